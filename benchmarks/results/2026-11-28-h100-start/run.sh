D=$PWD/FOLDER; W=/tmp/w43; mkdir -p $W; cd $W; cp $D/*.toml $D/*.inp .; for p in old new; do gunzip -c $D/$p.gz > $p; chmod +x $p; done
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; nproc; ./new --version
one() { # PROGRAM CASE SETS
 local t0=$(date +%s.%N); ./$1 run $2.toml --device gpu --output $1-$2 --overwrite --log quiet --set output.vti_spacing=0 --set output.checkpoint_every=0 ${3:-} >log 2>&1 || { echo FAILED $1 $2; tail -5 log; return; }
 python3 - $1 $2 $t0 <<'P'
import json,sys,time
p,c,t=sys.argv[1:]; s=json.load(open(f'{p}-{c}/summary.json')); q=s['seconds']
print(p,c,'wall %.2f'%(time.time()-float(t)),{k:round(v,2) for k,v in q.items()},s.get('compliance'),s['pcg_iterations'],s['iterations'],flush=True)
P
}
echo "== small, twice, first on a fresh machine"; one new l_beam; one new l_beam; one old l_beam; one old l_beam
echo "== 1 M"; for k in 1 2; do for c in cantilever l_beam michell connecting_rod; do for p in old new; do one $p $c "--set mesh.elements=1000000"; done; done; done
echo "== huge pages"; GLIBC_TUNABLES=glibc.malloc.hugetlb=1 one new l_beam "--set mesh.elements=1000000"; one new l_beam "--set mesh.elements=1000000"
echo "== a design that breaks"; for d in cpu gpu; do ./new run mbb30.toml --device $d --output m$d --overwrite --set design.volume_fraction=0.15 2>&1 | grep -E "iterations,|went back|goes back|broke" ; python3 -c "
import json; s=json.load(open('m$d/summary.json')); print('$d', s['compliance'], s['went_back_to'], s['status'], s['iterations'])"; done
echo "== 8 M"; for p in old new; do one $p cantilever "--set mesh.elements=8000000"; done
cp new-*/summary.json $OUT/ 2>/dev/null; cp log $OUT/
