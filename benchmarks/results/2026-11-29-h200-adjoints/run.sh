set -u
# Beside this file: the programs `before` and `after`, and the cases.
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
sum() { python3 - $1 <<'P'
import json,sys
s=json.load(open(sys.argv[1]+'/summary.json'))
t=s['seconds']; print(sys.argv[1], s['elements'],'elements', s['nodes'],'nodes', s['iterations'],'designs', s['pcg_iterations'],'PCG', 'objective %.9g'%s['objective']['value'], {k:round(v,3) for k,v in t.items()}, s['preconditioner'].get('levels'))
P
}
echo == correctness
for c in max mill open; do for d in gpu cpu; do timeout 100 ./after run ${c}_$d.toml --output $c.$d --log quiet; sum $c.$d; done; done
for c in inverter limited largest; do for p in after before after before; do timeout 60 ./$p run $c.toml --output $c.$p --log quiet --overwrite; sum $c.$p; done; done
for r in 1 2; do for m in hex tet; do timeout 100 ./after run $m.toml --output $m --log quiet --overwrite; sum $m; done; done

