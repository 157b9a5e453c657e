set -u
cd target/gpu; for f in after before device; do xz -dk -f $f.xz; chmod +x $f; done
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; nproc
sum() { python3 - $1 <<'P'
import json,sys
s=json.load(open(sys.argv[1]+'/summary.json'))
t=s['seconds']; print(sys.argv[1], s['title'], s['elements'],'elements', s['iterations'],'designs', s['pcg_iterations'],'PCG', s.get('pcg_products'),'products in double', 'objective %.12g'%s['objective']['value'], {k:round(v,3) for k,v in t.items()})
P
}
echo == made
for c in over all; do for p in before after; do timeout 150 ./$p run made_$c.toml --output o.$p --log quiet --overwrite && sum o.$p; done; done
for c in free over mem symm all; do timeout 100 ./after run made_$c.toml --output o --log quiet --overwrite && sum o; done
timeout 100 ./after verify o | tail -12
