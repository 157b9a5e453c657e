set -u
cd "$(dirname "$0")"   # beside: topopt as ./old, c.toml of 2026-11-30-h200-begin
nproc; lscpu | grep -E "Model name|L3|NUMA|Thread|Socket"
one() { timeout 100 ./old run c.toml --output o --log quiet --overwrite --device cpu --set mesh.elements=$1 --set optimizer.max_iterations=$3 --set solver.threads=$2 $4 $5 && python3 - $1 $2 "$6" <<'P'
import json,sys
s=json.load(open('o/summary.json')); t=s['seconds']; print(sys.argv[1:], s['strategy'], s['pcg_iterations'],'PCG', {k:round(v,3) for k,v in t.items() if v>.02}, flush=True)
P
}
for r in 1 2; do for t in 1 2 4 8 12 16; do one 31250 $t 12 --set design.keep_symmetry=false default; done; done
for t in 1 4 8 16; do one 31250 $t 12 --set filter.kind=\"sensitivity\" sens; done
for t in 1 2 4 8 16; do one 250000 $t 6 --set design.keep_symmetry=false default; done
which perf
