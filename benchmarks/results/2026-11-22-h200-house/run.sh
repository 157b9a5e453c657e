# correctness, histories against the version before, sanitizer, paired times
cd .carry2; xz -dkf *.xz; chmod +x t15 t16 device 2>/dev/null; cd ..
export LC_ALL=C; B=$PWD/.carry2; L=$OUT/log.txt; : > $L
say(){ echo "$@" | tee -a $L; }
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | tee -a $L
say "== device tests"; (cd crates/topopt-cuda; timeout 150 $B/device 2>&1 | tail -40) | tee -a $L
say "== histories, deterministic"
hist(){ n=$1; c=$2; shift 2
 for t in t15 t16; do $B/$t run benchmarks/$c.toml --device gpu --log quiet --output /tmp/h_${t}_$n --set solver.deterministic=true --set mesh.size=2 --set optimizer.max_iterations=20 "$@" 2>&1 | tail -3; done
 python3 - $n <<'P' | tee -a $L
import csv,sys
n=sys.argv[1]
a,b=[list(csv.DictReader(open(f"/tmp/h_{t}_{n}/history.csv"))) for t in ("t15","t16")]
worst=max(abs(float(x[k])/float(y[k])-1) if float(y[k]) else abs(float(x[k])) for x,y in zip(a,b) for k in ("compliance","volume_fraction","change"))
same=open(f"/tmp/h_t15_{n}/design.vtu","rb").read()==open(f"/tmp/h_t16_{n}/design.vtu","rb").read()
print(f"{n}: {len(a)} {len(b)} rows, largest relative difference {worst:.1e}, design.vtu {'the same bytes' if same else 'differs'}")
P
}
hist cantilever cantilever; hist l_beam l_beam --set filter.kind=density
hist michell michell --set solver.strategy=ebe; hist rod connecting_rod --set solver.strategy=ebeSym
hist nbn cantilever --set solver.strategy=nbn --set solver.preconditioner=jacobi
hist bsr l_beam --set solver.strategy=bsr --set solver.preconditioner=block-jacobi
hist projected cantilever --set filter.kind=density --set 'projection={sharpness=2}' --set 'continuation=[{from=8,sharpness=4,penalty=3.5}]'
say "== Helmholtz filter on the GPU and on the processor"
for d in cpu gpu; do $B/t16 run benchmarks/cantilever.toml --device $d --log quiet --output /tmp/z_$d --set mesh.size=3 --set filter.kind=density --set filter.weights=helmholtz --set solver.tolerance=1e-9 --set optimizer.max_iterations=15 2>&1 | tail -2; done
python3 - <<'P' | tee -a $L
import csv,json
a,b=[list(csv.DictReader(open(f"/tmp/z_{t}/history.csv"))) for t in ("cpu","gpu")]
print("helmholtz cpu/gpu", max(abs(float(x["compliance"])/float(y["compliance"])-1) for x,y in zip(a,b)), [json.load(open(f"/tmp/z_{t}/summary.json"))["seconds"] for t in ("cpu","gpu")])
P
say "== times, paired"
for i in 1 2 3 4 5; do o="t15 t16"; [ $((i%2)) = 0 ] && o="t16 t15"; for t in $o; do
 $B/$t run benchmarks/cantilever.toml --device gpu --output /tmp/r_$t --log quiet $( [ $i -gt 1 ] && echo --overwrite ) 2>&1 | tail -2
 python3 -c "import json;s=json.load(open('/tmp/r_$t/summary.json'))['seconds'];print('cantilever_gpu $t',s['total'],s['pcg'])"
done; done 2>&1 | tee -a $L
for i in 1 2 3; do o="t15 t16"; [ $((i%2)) = 0 ] && o="t16 t15"; for t in $o; do
 $B/$t run benchmarks/cantilever.toml --set mesh.size=5 --set optimizer.max_iterations=150 --device gpu --output /tmp/s_$t --log quiet $( [ $i -gt 1 ] && echo --overwrite ) 2>&1 | tail -2
 python3 -c "import json;s=json.load(open('/tmp/s_$t/summary.json'));q=s['seconds'];print('size5_gpu $t',q['total'],q['pcg'],s['iterations'])"
done; done 2>&1 | tee -a $L
for i in 1 2 3; do o="t15 t16"; [ $((i%2)) = 0 ] && o="t16 t15"; for t in $o; do
 $B/$t bench operators cube:128 --device gpu | awk -v t=$t '/^(mf|ebe|nbn|ebe8|ebe24|ebe64|ebeSym|bsr) /{print "operators_gpu", t, $1, $2, $3}'
done; done 2>&1 | tee -a $L
say "== sanitizer"; which compute-sanitizer /usr/local/cuda/bin/compute-sanitizer | head -1
S=$(which compute-sanitizer || ls /usr/local/cuda*/bin/compute-sanitizer | head -1)
for f in diffusion::shape_means_are_those_of_the_reference scalar_multigrid::every_level_equals_that_of_the_cpu scalar_multigrid::it_solves helmholtz::it_filters diffusion; do say "-- $f"; (cd crates/topopt-cuda; timeout 60 $S --tool memcheck --error-exitcode 9 $B/device $f 2>&1 | tail -4) | tee -a $L; done
