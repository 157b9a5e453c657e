set -u
cd target/gpu; for f in after before device; do xz -dk -f $f.xz; chmod +x $f; done
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; nproc
sum() { python3 - $1 <<'P'
import json,sys
s=json.load(open(sys.argv[1]+'/summary.json'))
t=s['seconds']; print(sys.argv[1], s['title'], s['elements'],'elements', s['iterations'],'designs', s['pcg_iterations'],'PCG', s.get('pcg_products'),'products in double', 'objective %.12g'%s['objective']['value'], {k:round(v,3) for k,v in t.items()})
P
}
echo == tests; for t in multigrid::iterations multigrid::it_solves cascade; do timeout 100 ./device $t 2>&1 | grep "^test "; done
S=$(command -v compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -1); echo sanitizer: $S
[ -n "$S" ] && for tool in memcheck racecheck synccheck; do timeout 60 $S --tool $tool ./device cascade 2>&1 | tail -2; done
echo == precision
for p in double mixed mixed double double mixed; do timeout 60 ./after run ${p}_1m.toml --output o --log quiet --overwrite && sum o; done
for p in double mixed mixed double; do timeout 100 ./after run ${p}_8m.toml --output o --log quiet --overwrite && sum o; done
for p in double mixed mixed double; do timeout 60 ./after run ${p}_def_1m.toml --output o --log quiet --overwrite && sum o; done
