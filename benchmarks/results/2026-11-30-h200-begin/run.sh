set -u
for f in old new device; do xz -dc $f.xz > $f; chmod +x $f; done
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
echo "== device tests of the kernel that changed"
timeout 120 ./device moving_asymptotes 2>&1 | tail -6
which compute-sanitizer && for t in memcheck racecheck synccheck; do timeout 200 compute-sanitizer --tool $t ./device moving_asymptotes 2>&1 | grep -E "ERROR SUMMARY|RACECHECK SUMMARY|test result" ; done
sum() { python3 - $1 $2 <<'P'
import json,sys
s=json.load(open(sys.argv[1]+'/summary.json'))
t=s['seconds']; print(sys.argv[2], s['elements'], s['strategy'], s['iterations'],'designs', s['pcg_iterations'],'PCG', 'compliance %.12g'%s['compliance'], {k:round(v,3) for k,v in t.items()}, [n for n in s['notes'] if 'model is solved' in n], flush=True)
P
}
echo "== demands, GPU and processor, 8192 elements"
S='{kind="symmetry",point=[16,8,8],normal=[0,0,1]}'
for d in 'kind="overhang",build_direction=[0,1,0]' 'kind="casting",draw_direction=[0,1,0],draft_degrees=5' 'kind="milling",tool_directions=[[0,1,0],[0,-1,0]],diameter=3' 'kind="open_voids"'; do for v in gpu cpu; do timeout 100 ./new run c.toml --output o --log quiet --overwrite --device $v --set mesh.elements=8192 --set solver.tolerance=1e-10 --set solver.early_tolerance=1e-10 --set "manufacturing=[{$d}]" && sum o "$v-${d%%,*}"; done; done
echo "== runs by turns"
./new run c.toml --output o --log quiet --overwrite
for p in old new new old; do timeout 100 ./$p run c.toml --output o --log quiet --overwrite --set mesh.elements=1024000 && sum o $p; done
for p in old new old new old new; do timeout 100 ./$p run c.toml --output o --log quiet --overwrite && sum o $p; done
for p in old new; do timeout 100 ./$p run c8.toml --output o --log quiet --overwrite && sum o $p; done
echo "== printed, 1 M"
for p in old new; do timeout 150 ./$p run c.toml --output o$p --log quiet --overwrite --set 'manufacturing=[{kind="overhang",build_direction=[0,1,0]}]' && sum o$p $p; timeout 60 ./$p verify o$p | grep -iE "lost|built|compliance" | head -5; done
echo "== after the run"
bash ../2026-11-30-h200-after/measure.sh ./old ./new c.toml 1
