# elements cut into hexahedra and pyramids: correctness, sanitizer, a run on cut tetrahedra, paired times
cd CARRIED; xz -dkf *.xz; chmod +x before after device; cd ..
export LC_ALL=C; B=$PWD/CARRIED; L=$OUT/log.txt; : > $L
say(){ echo "$@" | tee -a $L; }
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | tee -a $L
say "== device tests"; (cd crates/topopt-cuda; timeout 150 $B/device 2>&1 | grep -E "test |result|panicked" | tail -45) | tee -a $L
say "== bored block of 37,392 hexahedra of 9,348 tetrahedra, 3 iterations, CPU and GPU strategies"
cat > /tmp/b.toml <<'T'
[mesh]
file = "b2.msh"
[material]
youngs_modulus = 210000.0
[[select]]
name = "left"
kind = "nodes"
plane = { point = [0.0, 0.0, 0.0], normal = [1.0, 0.0, 0.0] }
[[select]]
name = "right"
kind = "nodes"
plane = { point = [100.0, 0.0, 0.0], normal = [1.0, 0.0, 0.0] }
[[supports]]
set = "left"
[[loads]]
set = "right"
total_force = [0.0, -100.0, 0.0]
[design]
volume_fraction = 0.4
[filter]
radius_in_elements = 2.0
[optimizer]
max_iterations = 3
T
cp $B/b2.msh /tmp
for s in cpu mf nbn ebe ebe8 ebe24 ebe64 ebeSymAtomic bsr; do
 if [ $s = cpu ]; then a="--device cpu"; else a="--device gpu --set solver.strategy=$s"; fi
 $B/after run /tmp/b.toml $a --log quiet --output /tmp/o_$s --set solver.tolerance=1e-10 --set solver.early_tolerance=1e-10 2>&1 | tail -3
done
python3 - <<'P' | tee -a $L
import csv,json
c=list(csv.DictReader(open('/tmp/o_cpu/history.csv')))
for s in 'mf nbn ebe ebe8 ebe24 ebe64 ebeSymAtomic bsr'.split():
    try:
        h=list(csv.DictReader(open(f'/tmp/o_{s}/history.csv'))); q=json.load(open(f'/tmp/o_{s}/summary.json'))['seconds']
        print(s, len(h), 'worst relative difference of the compliance', max(abs(float(a['compliance'])/float(b['compliance'])-1) for a,b in zip(c,h)), 'pcg s', q['pcg'])
    except Exception as e: print(s, 'no result', e)
P
say "== times, paired"
for i in 1 2 3; do o="before after"; [ $((i%2)) = 0 ] && o="after before"; for t in $o; do
 $B/$t bench operators cube:128 --device gpu | awk -v t=$t '/^(mf|ebe|nbn|ebe8|ebe24|ebe64|ebeSym|bsr) /{print "operators_gpu", t, $1, $2, $3}'
done; done 2>&1 | tee -a $L
for i in 1 2 3; do o="before after"; [ $((i%2)) = 0 ] && o="after before"; for t in $o; do
 $B/$t run benchmarks/cantilever.toml --device gpu --output /tmp/r_$t --log quiet $( [ $i -gt 1 ] && echo --overwrite ) 2>&1 | tail -2
 python3 -c "import json;s=json.load(open('/tmp/r_$t/summary.json'))['seconds'];print('cantilever_gpu $t',s['total'],s['pcg'])"
done; done 2>&1 | tee -a $L
say "== sanitizer"; S=$(which compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer | head -1)
for f in operators::every_operator_equals_the_reference diffusion::every_part_equals_the_reference_in_double_precision; do say "-- $f"; (cd crates/topopt-cuda; timeout 90 $S --tool memcheck --error-exitcode 9 $B/device $f 2>&1 | tail -4) | tee -a $L; done
