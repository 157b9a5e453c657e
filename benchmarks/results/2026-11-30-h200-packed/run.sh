set -u
mkdir -p /tmp/m; for f in tb tp; do xz -dc target/gpu/$f.xz > /tmp/m/$f; chmod +x /tmp/m/$f; done; cp target/gpu/*.toml /tmp/m; cd /tmp/m
sum() { python3 - $1 $2 <<'P'
import json,sys
s=json.load(open(sys.argv[1]+'/summary.json'))
t=s['seconds']; print(sys.argv[2], s['title'], s['iterations'],'designs', s['pcg_iterations'],'PCG', 'compliance %.12g'%s['compliance'], {k:round(v,3) for k,v in t.items()}, flush=True)
P
}
./tb run s1.toml --output o --log quiet --overwrite
for p in tp tb tp tb; do for c in ${CASES:-s1 c1 c1t}; do timeout 100 ./$p run $c.toml --output o --log quiet --overwrite && sum o $p; done; done
for p in tb tp; do for c in s8 c8; do timeout 150 ./$p run $c.toml --output o --log quiet --overwrite && sum o $p; done; done
