"""Runs crisp, doubling, grey and reference designs; a line each. table.py PROGRAM OUT DEVICE JOB...
JOB: name:case.toml:variants:verify:set;set"""
import json, os, subprocess, sys, time, csv
prog, out, device = sys.argv[1:4]
REF = "continuation=[" + ",".join("{from=%d,sharpness=%d}" % (1+125*k, 2**k) for k in range(1, 7)) + "]"
V = {
    'crisp': [],
    'best': ['design.quality=best'],
    'free': ['design.keep_symmetry=false'],
    'doubling': ['optimizer.method=mma'],
    'grey': ['design.style=smooth'],
    'ref': ['optimizer.method=mma', 'projection={sharpness=1}', REF, 'optimizer.max_iterations=1000', 'optimizer.change_tolerance=0', 'optimizer.compliance_tolerance=0', 'optimizer.move_limit=0.2', 'design.density_min=0.001'],
}
os.makedirs(out, exist_ok=True)
log = open(out + '/table.tsv', 'a')
def say(*a):
    t = '\t'.join(str(x) for x in a); print(t, flush=True); log.write(t + '\n'); log.flush()
def num(x, f='%.6g'): return f % x if isinstance(x, (int, float)) else '-'
for job in sys.argv[4:]:
    name, case, variants, verify, sets = (job.split(':') + [''])[:5]
    for v in variants.split(','):
        o = '%s/%s-%s' % (out, name, v)
        cmd = [prog, 'run', case, '--device', device, '--output', o, '--overwrite', '--log', 'quiet', '--set', 'output.vti_spacing=0', '--set', 'output.checkpoint_every=0']
        for s in [s for s in sets.split(';') if s] + V[v]: cmd += ['--set', s]
        t = time.time(); p = subprocess.run(cmd, capture_output=True, text=True); t = time.time() - t
        if p.returncode not in (0, 3) or not os.path.exists(o + '/summary.json'):
            say(name, v, 'FAILED', p.returncode, p.stderr.replace('\n', ' | ')[:600]); continue
        s = json.load(open(o + '/summary.json'))
        rows = list(csv.DictReader(open(o + '/history.csv')))
        its = [int(float(r['pcg_iterations'])) for r in rows]
        c = float(rows[-1]['compliance']); vc = pieces = '-'
        if verify == '1':
            q = subprocess.run([prog, 'verify', o, '--device', device], capture_output=True, text=True)
            try:
                j = json.load(open(o + '/verify.json')); vc = j.get('compliance', j.get('verified_compliance', '?')); pieces = j.get('connected_parts', j.get('pieces', '?'))
                if not isinstance(vc, (int, float)): vc = json.dumps(vc)[:80]
            except Exception as e: vc = 'verify: %s %s' % (e, q.stderr[:300].replace('\n', ' | '))
        say(name, v, 'n=%s' % s.get('elements', '?'), 'it=%d' % len(rows), 'c=%s' % num(c), 'verified=%s' % (num(vc) if isinstance(vc, (int, float)) else vc), 'grey=%s' % num(s.get('grey_level')), 'V=%s' % num(s.get('volume_fraction')), 'pcg mean=%.1f max=%d' % (sum(its)/len(its), max(its)), 'parts=%s' % pieces, 't=%.1f' % t, 'warn=' + ' / '.join(str(w)[:90] for w in s.get('warnings', [])), 'notes=' + ' / '.join(str(w)[:120] for w in s.get('notes', [])))
