# materials of element sets, rotation, forces at a point, moments: every strategy of the GPU beside the processor
cd CARRIED; xz -dkf *.xz; chmod +x after; cd ..
export LC_ALL=C; B=$PWD/CARRIED; L=$OUT/log.txt; : > $L
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | tee -a $L
cp $B/b2.msh /tmp; cat > /tmp/m.toml <<'T'
[mesh]
file = "b2.msh"
[material]
youngs_modulus = 210000.0
mass_density = 7.85e-9
[[select]]
name = "upper"
kind = "elements"
box = { min = [0.0, 0.0, 15.0], max = [100.0, 40.0, 30.0] }
[[materials]]
set = "upper"
youngs_modulus = 70000.0
mass_density = 2.7e-9
[[select]]
name = "left"
kind = "nodes"
plane = { point = [0.0, 0.0, 0.0], normal = [1.0, 0.0, 0.0] }
[[select]]
name = "right"
kind = "faces"
plane = { point = [100.0, 0.0, 0.0], normal = [1.0, 0.0, 0.0] }
[[supports]]
set = "left"
[[loads]]
set = "right"
total_force = [0.0, -100.0, 0.0]
at = [150.0, 20.0, 15.0]
[[loads]]
set = "right"
moment = [500.0, 0.0, 0.0]
case = "twist"
[[loads]]
angular_velocity = [0.0, 0.0, 600.0]
center = [0.0, 20.0, 0.0]
case = "spin"
[design]
volume_fraction = 0.4
interpolation = "ramp"
[filter]
radius_in_elements = 2.0
[optimizer]
max_iterations = 4
T
for s in cpu mf nbn ebe ebe8 ebe24 ebe64 ebeSymAtomic bsr; do
 if [ $s = cpu ]; then a="--device cpu"; else a="--device gpu --set solver.strategy=$s"; fi
 $B/after run /tmp/m.toml $a --log quiet --output /tmp/o_$s --set solver.tolerance=1e-10 --set solver.early_tolerance=1e-10 2>&1 | tail -3 | tee -a $L
done
python3 - <<'P' | tee -a $L
import csv,json
c=list(csv.DictReader(open('/tmp/o_cpu/history.csv')))
print('cpu', [h['compliance'] for h in c])
for s in 'mf nbn ebe ebe8 ebe24 ebe64 ebeSymAtomic bsr'.split():
    try:
        h=list(csv.DictReader(open(f'/tmp/o_{s}/history.csv')))
        print(s, len(h), 'worst relative difference of the compliance', max(abs(float(a['compliance'])/float(b['compliance'])-1) for a,b in zip(c,h)))
    except Exception as e: print(s, 'no result', e)
P
$B/after verify /tmp/o_mf --device gpu 2>&1 | tail -8 | tee -a $L
