set -u
mkdir -p /tmp/m; for f in old new; do xz -dc target/gpu/$f.xz > /tmp/m/$f; chmod +x /tmp/m/$f; done; cp target/gpu/*.toml target/gpu/measure.sh /tmp/m; cd /tmp/m
sum() { python3 - $1 $2 <<'P'
import json,sys
s=json.load(open(sys.argv[1]+'/summary.json'))
t=s['seconds']; print(sys.argv[2], s['elements'], s['strategy'], s['iterations'],'designs', s['pcg_iterations'],'PCG', 'compliance %.12g'%s['compliance'], {k:round(v,3) for k,v in t.items()}, [n for n in s['notes'] if 'model is solved' in n], flush=True)
P
}
./new run c.toml --output o --log quiet --overwrite
for p in old new new old; do timeout 100 ./$p run c.toml --output o --log quiet --overwrite --set mesh.elements=1024000 && sum o $p; done
for p in old new old new old new; do timeout 100 ./$p run c.toml --output o --log quiet --overwrite && sum o $p; done
bash measure.sh ./old ./new c.toml 1
