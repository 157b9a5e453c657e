set -u
cd target/gpu; for f in old trial; do xz -dk -f $f.xz; chmod +x $f; done
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; nproc
cat > sum.py <<'P'
import json,sys
s=json.load(open('o/summary.json')); t=s['seconds']
print(' '.join(sys.argv[1:]),'|',s['elements'],s['iterations'],'PCG',s['pcg_iterations'],'obj %.10g'%s['objective']['value'],{k:round(v,3) for k,v in t.items()},flush=True)
P
run() { name=$1; shift; timeout 100 "$@" --output o --log quiet --overwrite > run.log 2>&1 && python3 sum.py $name || tail -3 run.log; }
export -f run
head -20 double_1m.toml
S8="--set mesh.elements=8000000"
echo == base
for r in 1; do run old ./old run double_1m.toml; run old-crisp ./old run c.toml; done
head -3 o/history.csv; tail -2 o/history.csv
echo == upper
run t-base ./trial run double_1m.toml
UPPER=1 run upper-crisp ./trial run c.toml
echo == knobs
for k in "2,3,5,8" ",,,,5" "2,2,,,5" "2,2,5,5" "2,2,8,8" "1,3,,,5" "3,2,,,5" ",,,,,1" ",,,,,1,1" "2,2,,,5,1" "2,1,,,5"; do
  TRIAL=$k run "[$k]" ./trial run double_1m.toml; TRIAL=$k run "[$k]crisp" ./trial run c.toml
done
echo == 8M
run old8 ./old run double_8m.toml
for k in "2,2,,,5"; do TRIAL=$k run "[$k]8" ./trial run double_8m.toml; done
echo == ncu
timeout 100 ncu --clock-control none --metrics gpu__time_duration.sum --csv --page raw --launch-skip 3000 --launch-count 1500 ./old run double_1m.toml --output o --log quiet --overwrite > ncu.csv 2> ncu.err; tail -3 ncu.err
python3 - <<'P'
import csv,collections
t=collections.defaultdict(lambda:[0,0.0])
rows=[l for l in open('ncu.csv') if l.startswith('"')]
for r in csv.DictReader(rows):
    try: v=float(r['gpu__time_duration.sum'].replace(',',''))
    except Exception: continue
    k=(r['Kernel Name'].split('(')[0], r.get('Grid Size',''))
    t[k][0]+=1; t[k][1]+=v
for k,(n,v) in sorted(t.items(),key=lambda x:-x[1][1])[:40]: print(k,n,round(v,1),round(v/n,2))
P
cp ncu.csv $OUT/ 2>/dev/null; gzip -f $OUT/ncu.csv
