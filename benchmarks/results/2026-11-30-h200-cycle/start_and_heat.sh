set -u
cd target/gpu; for f in new lab; do xz -dk -f $f.xz; chmod +x $f; done
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
cat > sum.py <<'P'
import json,sys
s=json.load(open(sys.argv[1]+'/summary.json')); t=s['seconds']
print(' '.join(sys.argv[2:]),'|',s['elements'],s['iterations'],'PCG',s['pcg_iterations'],'obj %.10g'%s['objective']['value'],{k:round(v,3) for k,v in t.items()}, s.get('coarse'),flush=True)
P
run() { out=$1; name=$2; shift 2; timeout 150 "$@" --output $out --log quiet --overwrite > run.log 2>&1; python3 sum.py $out $name || tail -3 run.log; }
echo == heat
for k in full incompatible_modes full incompatible_modes; do ./lab operators cube:200 --physics heat --device gpu --strategies mf --elements $k --repeats 20 2>&1 | tail -2; done
timeout 40 ncu --clock-control none -k regex:"diffusion$" --launch-skip 3 --launch-count 1 --set full ./lab operators cube:200 --physics heat --device gpu --strategies mf --repeats 3 2>/dev/null | grep -E "Duration|Throughput|Registers Per|Achieved Occ|fused|Issued Ipc|Eligible" | head -14
echo == start
grep -v "tolerance\|precision" double_1m.toml | sed 's/max_iterations = 12/max_iterations = 60/' > s1.toml
run o warm ./new run c.toml
for r in 1 2; do for k in fine coarse; do run o "crisp $k" ./new run c.toml --set optimizer.start=$k; run o$k "smooth $k" ./new run s1.toml --set optimizer.start=$k; done; done
for k in fine coarse; do python3 - $k <<'P'
import csv,sys
rows=list(csv.DictReader(open('o'+sys.argv[1]+'/history.csv'))); c=[float(r['compliance']) for r in rows]; best=min(c[len(c)//2:])
n=next(i for i in range(len(c)) if c[i]<=1.01*best and i>len(c)//3)
print(sys.argv[1],'within 1 % of its best',best,'at design',n+1,'seconds of designs after it',round(sum(float(r[k]) for r in rows[n+1:] for k in r if k.endswith('_seconds')),3))
P
done
for k in fine coarse; do run o "8M crisp $k" ./new run c8.toml --set optimizer.start=$k; done
run o inverter ./new run inverter1m.toml; run o inverter ./new run inverter1m.toml; cut -d, -f8 o/history.csv | sort -n | tail -1
