set -u
cd target/gpu; for f in new device; do [ -f $f.xz ] && xz -dk -f $f.xz && chmod +x $f; done
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
cat > sum.py <<'P'
import json,sys,csv
s=json.load(open(sys.argv[1]+'/summary.json')); t=s['seconds']
print(' '.join(sys.argv[2:]),'|',s['elements'],s['iterations'],'PCG',s['pcg_iterations'],'obj %.10g'%s['objective']['value'],{k:round(v,3) for k,v in t.items()}, s.get('coarse'),flush=True)
rows=list(csv.DictReader(open(sys.argv[1]+'/history.csv')))
print('   ',' '.join(r['pcg_iterations'] for r in rows),flush=True)
P
run() { out=$1; name=$2; shift 2; timeout 100 "$@" --output $out --log quiet --overwrite > run.log 2>&1; python3 sum.py $out "$name" || tail -3 run.log; }
run o warm ./new run double_1m.toml
run o "1e-8 1M" ./new run double_1m.toml
run o "1e-8 8M" ./new run double_8m.toml
for k in fine coarse fine coarse; do run o "crisp 8M $k" ./new run c8.toml --set "optimizer.start=\"$k\""; done
run r "crisp 1M" ./new run c.toml
# seconds of wall and of all threads
cat > use.py <<'P'
import subprocess,sys,time,os,resource
t0=time.time(); p=subprocess.Popen(sys.argv[2:],stdout=subprocess.DEVNULL,stderr=subprocess.DEVNULL)
busy=[]; last={}
hz=os.sysconf('SC_CLK_TCK')
while p.poll() is None:
    now=time.time()-t0; d=0
    try:
        for t in os.listdir(f'/proc/{p.pid}/task'):
            f=open(f'/proc/{p.pid}/task/{t}/stat').read().rsplit(')',1)[1].split(); u=int(f[11])+int(f[12]); d+=u-last.get(t,0); last[t]=u
    except OSError: pass
    busy.append((now,d/hz)); time.sleep(0.1)
wall=time.time()-t0; r=resource.getrusage(resource.RUSAGE_CHILDREN)
line=''.join(min('%d'%round(10*b),'G',key=len) if round(10*b)<10 else 'X' for _,b in busy)
low=sum(0.1 for _,b in busy if b<0.16)
print(sys.argv[1],'wall %.2f user %.1f kernel %.1f; seconds with less than 1.6 threads %.1f'%(wall,r.ru_utime,r.ru_stime,low)); print('   threads busy each 0.1 s:',line)
P
rm -f r/surface.* r/verify.*
python3 use.py "export made" ./new export r -o e.stl; python3 use.py "export kept" ./new export r -o e.stl
rm -f r/surface.*; python3 use.py "verify made" ./new verify r; python3 use.py "verify kept" ./new verify r; python3 use.py "report kept" ./new report r --output p.html
