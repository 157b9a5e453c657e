"""Runs each demand on benchmarks: compliance beside the free design's, and what verify measures."""
import json, subprocess, sys, os
B, OUT = sys.argv[1], sys.argv[2]
os.makedirs(OUT, exist_ok=True)
BASE = {
 "cantilever": ('[mesh]\ngenerator="cantilever"\nelements=60000\n[[supports]]\nset="fixed"\n[[loads]]\nset="load"\nforce=[0,0,-1]\n', None),
 "l_beam": ('[mesh]\ngenerator="l_beam"\nelements=60000\n[[supports]]\nset="fixed"\n[[loads]]\nset="load"\nforce=[0,-1,0]\n', None),
}
def run(name, text, folder):
    open("k.toml", "w").write(text)
    p = subprocess.run([B, "run", "k.toml", "--output", folder, "--overwrite", "--log", "quiet"], capture_output=True, text=True)
    if p.returncode: print(name, "RUN", " ".join(p.stderr.split())[:300], flush=True); return
    v = subprocess.run([B, "verify", folder], capture_output=True, text=True)
    s = json.load(open(folder + "/summary.json"))
    try: f = json.load(open(folder + "/verify.json"))
    except Exception: print(name, "VERIFY", v.stderr[:300]); return
    made = [(m["measure"], round(100 * m["share"], 2), m["met"]) for m in f["built"].get("made", f.get("made", []))] if "built" in f else [(m["measure"], round(100*m["share"],2), m["met"]) for m in f.get("made", [])]
    parts = len(f.get("parts", f.get("built", {}).get("parts", [])))
    print(name, "elements", s["elements"], "designs", s["iterations"], "compliance %.6g" % s["compliance"], "built %.6g" % f["compliance"]["verified"], "grey %.4f" % s["grey_level"], "pieces", parts, made, flush=True)
def demands(b):
    e = EXT[b]; mid = [x / 2 for x in e]
    d = {
     "free": "",
     "symmetry": '[[manufacturing]]\nkind="symmetry"\npoint=%s\nnormal=[0,0,1]\n' % mid,
     "cyclic": '[[manufacturing]]\nkind="cyclic"\npoint=%s\naxis=[1,0,0]\nsectors=4\n' % mid,
     "pattern": '[[manufacturing]]\nkind="pattern"\npitch=[%s,0,0]\n' % (round(e[0] / 4)),
     "copy": '[[manufacturing]]\nkind="copy"\norigin=[0,0,0]\nsize=[%s,%s,%s]\nto=[%s,0,%s]\nto_x=[-1,0,0]\n' % (int(.4*e[0]), e[1], e[2], e[0], e[2]),
     "extrusion": '[[manufacturing]]\nkind="extrusion"\ndirection=[0,1,0]\n',
     "uniform": '[[manufacturing]]\nkind="uniform"\nnormal=[0,1,0]\n',
     "overhang": '[[manufacturing]]\nkind="overhang"\nbuild_direction=[0,0,1]\n',
     "printed": '', "cast": '', "milled": '', 
     "casting": '[[manufacturing]]\nkind="casting"\ndraw_direction=[0,0,1]\n',
     "milling": '[[manufacturing]]\nkind="milling"\ntool_directions=[[0,1,0],[0,-1,0]]\ndiameter=3\n',
     "open_voids": '[[manufacturing]]\nkind="open_voids"\n',
     "minimum": '[[manufacturing]]\nkind="member_size"\nminimum=4\n',
     "gap": '[[manufacturing]]\nkind="member_size"\nminimum=4\ngap=4\n',
     "maximum": '[[manufacturing]]\nkind="member_size"\nmaximum=4\n',
     "sheet": '[[manufacturing]]\nkind="casting"\ndraw_direction=[0,1,0]\nthickness=4\n',
     "all": '[[manufacturing]]\nkind="overhang"\nbuild_direction=[0,0,1]\n[[manufacturing]]\nkind="member_size"\nminimum=4\n[[manufacturing]]\nkind="symmetry"\npoint=%s\nnormal=[0,1,0]\n[[manufacturing]]\nkind="open_voids"\n' % mid,
    }
    return d
EXT = {}
def extents(b):
    subprocess.run([B, "mesh", b, "--elements", "60000", "-o", "m.vtu"], capture_output=True)
if __name__ == "__main__":
    EXT["cantilever"] = [float(x) for x in sys.argv[3].split(",")]
    EXT["l_beam"] = [float(x) for x in sys.argv[4].split(",")]
    picks = sys.argv[5:]
    for b, (base, _) in BASE.items():
        for k, keys in demands(b).items():
            if picks and k not in picks: continue
            design = '[design]\nvolume_fraction=%s\n' % (0.35 if k == "sheet" else 0.25)
            if k in ("printed", "cast", "milled"): design += 'method="%s"\ndirection=[0,0,1]\n' % k
            sized = k in ("minimum", "gap", "all")
            filt = '' if k in ("printed", "cast", "milled") else '[filter]\nkind="density"\n' + ('' if sized else 'radius_in_elements=2.5\n')
            f = f"{OUT}/{b}_{k}"
            run(f"{b} {k}", base + design + filt + keys, f)
            if b == "cantilever": subprocess.run([B, "export", f, "-o", f"{OUT}/{b}_{k}.stl"], capture_output=True)
            subprocess.run(["rm", "-rf", f])
