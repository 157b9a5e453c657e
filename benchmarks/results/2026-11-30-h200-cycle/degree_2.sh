set -u
cd target/gpu; for f in new device lab; do xz -dk -f $f.xz; chmod +x $f; done
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
cat > sum.py <<'P'
import json,sys
s=json.load(open(sys.argv[1]+'/summary.json')); t=s['seconds']
print(' '.join(sys.argv[2:]),'|',s['elements'],s['iterations'],'PCG',s['pcg_iterations'],'obj %.10g'%s['objective']['value'],{k:round(v,3) for k,v in t.items()},flush=True)
P
run() { out=$1; name=$2; shift 2; timeout 150 "$@" --output $out --log quiet --overwrite > run.log 2>&1; python3 sum.py $out $name || tail -3 run.log; }
echo == device tests
for t in multigrid:: backend diffusion scalar_multigrid patch_relax; do timeout 60 ./device $t 2>&1 | grep "^test result\|FAILED\|panicked"; done
echo == heat
for k in full incompatible_modes; do ./lab operators cube:200 --physics heat --device gpu --strategies mf --elements $k --repeats 20 2>&1 | tail -12; done
./lab operators --help 2>&1 | grep -i "physics\|elements\|precision" 
echo == solves to 1e-8
grep -v precision double_1m.toml > d1.toml; grep -v precision double_8m.toml > d8.toml
for p in new new new; do run o "$p 1e-8 1M" ./$p run d1.toml; done
for p in new; do run o "$p 1e-8 8M" ./$p run d8.toml; done
for p in new new; do run o "$p crisp 1M" ./$p run c.toml; done
echo == sanitizer
for tool in memcheck racecheck; do timeout 60 compute-sanitizer --tool $tool ./device multigrid::every_level 2>&1 | tail -2; timeout 40 compute-sanitizer --tool $tool ./device backend 2>&1 | tail -2; timeout 60 compute-sanitizer --tool $tool ./device diffusion 2>&1 | tail -2; done
