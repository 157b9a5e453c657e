: run beside the program, the cases and kuhn.py of ../2026-11-28-h100-tetrahedra
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; ./topopt --version
cmp() { python3 - $1 $2 <<'P'
import csv,sys
a,b=[list(csv.DictReader(open(f'{d}/history.csv'))) for d in sys.argv[1:]]
w=max(abs(float(x['compliance'])/float(y['compliance'])-1) for x,y in zip(a,b)); print(sys.argv[1:],len(a),len(b),'largest difference of compliance',w,'iterations',sum(int(float(x['pcg_iterations'])) for x in a),sum(int(float(x['pcg_iterations'])) for x in b), flush=True)
P
}
echo "== inertia relief"
for d in cpu gpu; do ./topopt solve free.toml --device $d --output s$d --overwrite 2>&1 | grep -E "iterations on|compliance|acceleration|sum"; done
for d in cpu gpu; do ./topopt run free.toml --device $d --output r$d --overwrite --log quiet --set mesh.elements=20000 --set optimizer.max_iterations=30 >log 2>&1 || tail -3 log; done; cmp rcpu rgpu
./topopt run free.toml --device gpu --output big --overwrite --log quiet --set mesh.elements=1000000 --set optimizer.max_iterations=10 --set solver.tolerance=1e-5 --set solver.early_tolerance=1e-3; python3 -c "
import json; s=json.load(open('big/summary.json')); print('1 M free', s['seconds'], s['pcg_iterations'])"
echo "== Helmholtz filter on tetrahedra"
python3 kuhn.py block.msh 30 10 10 60 20 20
for d in cpu gpu; do ./topopt run tet.toml --device $d --output t$d --overwrite --log quiet --set optimizer.max_iterations=6 --set solver.tolerance=1e-9 --set solver.early_tolerance=1e-9 >log 2>&1 || tail -3 log; done; cmp tcpu tgpu
echo "== heat on tetrahedra"; ./topopt solve heat.toml --device gpu 2>&1 | tail -5; ./topopt solve heat.toml --overwrite 2>&1 | grep -E "iterations|note|hottest|largest"
S=/usr/local/cuda/bin/compute-sanitizer; python3 kuhn.py block.msh 6 2 2 60 20 20
timeout 150 $S --tool memcheck ./topopt run tet.toml --device gpu --output m --overwrite --log quiet --set optimizer.max_iterations=2 2>&1 | tail -1
timeout 150 $S --tool memcheck ./topopt run free.toml --device gpu --output m2 --overwrite --log quiet --set mesh.elements=500 --set optimizer.max_iterations=2 2>&1 | tail -1
