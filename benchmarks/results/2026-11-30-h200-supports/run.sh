set -u
mkdir -p /tmp/m; for f in old new; do xz -dc target/gpu/$f.xz > /tmp/m/$f; chmod +x /tmp/m/$f; done; cp target/gpu/*.toml target/gpu/measure.sh /tmp/m; cd /tmp/m
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
sum() { python3 - $1 $2 <<'P'
import json,sys
s=json.load(open(sys.argv[1]+'/summary.json'))
t=s['seconds']; print(sys.argv[2], s['elements'], s['strategy'], s['iterations'],'designs', s['pcg_iterations'],'PCG', 'compliance %.12g'%s['compliance'], {k:round(v,3) for k,v in t.items()}, [n for n in s['notes'] if 'model is solved' in n], flush=True)
P
}
echo "== GPU and processor, old and new, 8192 elements"
for d in 'kind="overhang",build_direction=[0,1,0]' 'kind="casting",draw_direction=[0,1,0],draft_degrees=5' ; do for v in old-gpu new-gpu new-cpu; do timeout 100 ./${v%-*} run c.toml --output o --log quiet --overwrite --device ${v#*-} --set mesh.elements=8192 --set solver.tolerance=1e-10 --set solver.early_tolerance=1e-10 --set "manufacturing=[{$d}]" && sum o "$v-${d%%,*}"; done; done
echo "== supports, 1 M, by turns"
for d in 'kind="overhang",build_direction=[0,1,0]' 'kind="casting",draw_direction=[0,1,0],draft_degrees=5' 'kind="milling",tool_directions=[[0,1,0],[0,-1,0]],diameter=3'; do for p in old new new old; do timeout 150 ./$p run c.toml --output o --log quiet --overwrite --set optimizer.max_iterations=3 --set "manufacturing=[{$d}]" && sum o "$p ${d%%,*}"; done; done
echo "== printed, 1 M, whole"
for p in old new; do timeout 150 ./$p run c.toml --output o --log quiet --overwrite --set 'manufacturing=[{kind="overhang",build_direction=[0,1,0]}]' && sum o $p; timeout 100 ./$p verify o | grep -iE "lost|built|in the air" | head -5; done
echo "== after the run"
bash measure.sh ./old ./new c.toml 1
