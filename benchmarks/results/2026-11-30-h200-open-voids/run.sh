set -u; W=$PWD
mkdir -p /tmp/m; for f in old new device; do xz -dc $f.xz > /tmp/m/$f; chmod +x /tmp/m/$f; done; cp *.toml /tmp/m; cd /tmp/m
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
timeout 100 ./device flood 2>&1 | tail -4; timeout 100 ./device cascade 2>&1 | tail -4
which compute-sanitizer && for t in memcheck racecheck synccheck initcheck; do timeout 200 compute-sanitizer --tool $t ./device flood 2>&1 | grep -E "ERROR SUMMARY|RACECHECK SUMMARY|test result|Uninit" | head -4; done
sum() { python3 - $1 "$2" <<'P'
import json,sys
s=json.load(open(sys.argv[1]+'/summary.json'))
t=s['seconds']; print(sys.argv[2], s['elements'], s['strategy'], s['iterations'],'designs', s['pcg_iterations'],'PCG', 'compliance %.12g'%s['compliance'], 'grey %.4f'%s['grey_level'], {k:round(v,3) for k,v in t.items()}, flush=True)
P
}
echo "== GPU and processor, 8192 elements"
for d in 'kind="open_voids"' 'kind="overhang",build_direction=[0,1,0]},{kind="open_voids"' 'kind="casting",draw_direction=[0,1,0]'; do for v in gpu cpu; do timeout 100 ./new run c.toml --output o --log quiet --overwrite --device $v --set mesh.elements=8192 --set solver.tolerance=1e-10 --set solver.early_tolerance=1e-10 --set 'filter={kind="density",radius_in_elements=2}' --set "manufacturing=[{$d}]" && sum o "$v-$d"; done; done
R="./new run c.toml --output o --log quiet --overwrite --set design.volume_fraction=0.3"
D='design.direction=[0,1,0]'; S='manufacturing=[{kind="symmetry",point=[158,0,39.5],normal=[0,0,1]}]'
echo "== printed preset, 1 M"
for k in 1 2; do timeout 60 $R --set filter.kind=density --set filter.radius_in_elements=2.5 && sum o free_density; done
timeout 120 $R --set design.method='"printed"' --set $D --set 'filter={}' && sum o printed; timeout 60 ./new verify o | grep -iE "lost|built|air|enclosed|steep" | head
timeout 120 $R --set design.method='"printed"' --set $D --set 'filter={}' --set design.least_width=4.0 --set "$S" && sum o printed_width_symmetry; timeout 60 ./new verify o | grep -iE "lost|built|air|enclosed|steep|wide|unequal" | head
timeout 120 $R --set 'manufacturing=[{kind="overhang",build_direction=[0,1,0]}]' && sum o overhang
timeout 120 $R --set 'manufacturing=[{kind="open_voids"}]' --set filter.kind=density --set filter.radius_in_elements=2.5 && sum o open_voids
echo "== kinds"
timeout 300 python3 $W/kinds.py ./new kk 62,31,31 100,100,10
rm -f kk/*/*.vtu; mkdir -p $OUT/kk; cp kk/*.stl $OUT/kk/ ; ls -la kk | head -40
