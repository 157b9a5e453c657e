import json, subprocess, sys
B = sys.argv[1]
PARTS = {
 "bracket": (["mesh.element_size=2", 'mesh.method="hexahedra"'], "[1,0,0]", "[0,1,0]", "[0,1,0]", "point=[40,30,45],normal=[0,1,0]", 6.2),
 "pipe_support": ([], "[0,0,1]", "[0,1,0]", "[0,1,0]", "point=[0,0,40],normal=[1,0,0]", 10.2),
 "rocker": ([], "[0,0,1]", "[0,0,1]", "[0,0,1]", "point=[50,20,10],normal=[0,0,1]", 0),
}
def run(name, part, sets, size=None):
    a = [B, "run", f"parts/{part}/case.toml", "--output", "r", "--overwrite", "--log", "quiet"]
    for s in sets: a += ["--set", s]
    p = subprocess.run(a, capture_output=True, text=True)
    if p.returncode: print(part, name, "RUN", " ".join(p.stderr.split())[:260], flush=True); return
    v = subprocess.run([B, "verify", "r"], capture_output=True, text=True)
    s = json.load(open("r/summary.json"))
    try: f = json.load(open("r/verify.json"))
    except Exception: print(part, name, "VERIFY", " ".join(v.stderr.split())[:260], flush=True); return
    made = [(m["measure"][:34], round(100 * m["share"], 2)) for m in f.get("made", [])]
    x = subprocess.run([B, "export", "r", "-o", "r.stl"], capture_output=True, text=True)
    closed = [l.strip() for l in (x.stdout + x.stderr).splitlines() if "closed" in l or "watertight" in l or "cavit" in l or "itself" in l][:2]
    print(part, name, s["elements"], "designs", s["iterations"], "compliance %.5g" % s["compliance"], "built %.5g" % f["compliance"]["verified"], "grey %.4f" % s["grey_level"], "pieces", len(f["parts"]), made, closed, flush=True)
for part, (sets, up, draw, profile, plane, size) in PARTS.items():
    m = lambda d: ["manufacturing=[%s]" % d, 'filter={kind="density",radius_in_elements=2.5}']
    e = lambda k, keys: '{kind="%s",%s}' % (k, keys)
    todo = {
      "free": m(""), "symmetry": m(e("symmetry", plane)), "overhang": m(e("overhang", "build_direction=" + up)),
      "casting": m(e("casting", "sides=2,draw_direction=" + draw)), "milling": m(e("milling", "tool_directions=[%s,%s]" % (draw, "[" + ",".join(str(-int(x)) for x in draw[1:-1].split(",")) + "]"))),
      "extrusion": m(e("extrusion", "direction=" + profile)), "open_voids": m('{kind="open_voids"}'),
      "uniform": m(e("uniform", "normal=" + profile)),
    }
    if size:
        todo["minimum"] = ["manufacturing=[%s]" % e("member_size", "minimum=%s" % size), 'filter={kind="density"}']
        todo["all"] = ["manufacturing=[%s,%s,%s,%s]" % (e("overhang", "build_direction=" + up), e("symmetry", plane), e("member_size", "minimum=%s" % size), '{kind="open_voids"}'), 'filter={kind="density"}']
    for name, keys in todo.items(): run(name, part, sets + keys)
