"""Lug bracket of a trial: base, two lugs, bolt holes, pin, 8 mm fillets; cut tetrahedra. lug_bracket.py SIZE writes bracket.msh and bracket.step"""
import gmsh, sys
h=float(sys.argv[1]) if len(sys.argv)>1 else 7.0
gmsh.initialize(); gmsh.model.add("bracket"); o=gmsh.model.occ
base=o.addBox(-60,0,-40,120,20,80)
lug=o.addBox(-25,20,-40,50,50,80)
body,_=o.fuse([(3,base)],[(3,lug)])
# slot between the two lugs (clevis)
slot=o.addBox(-26,35,-15,52,40,30)
holes=[(3,o.addCylinder(x,-1,z,0,30,0,5)) for x in(-45,45) for z in(-25,25)]
pin=[(3,o.addCylinder(0,50,-41,0,0,82,10))]
body,_=o.cut(body,[(3,slot)]+holes+pin)
o.synchronize()
# fillet the re-entrant edges between base and lug
edges=[e for e in gmsh.model.getEntities(1)]
sel=[]
for d,t in edges:
    b=gmsh.model.getBoundingBox(d,t)
    if abs(b[1]-20)<1e-3 and abs(b[4]-20)<1e-3 and abs(abs(b[0])-25)<1e-3 and abs(b[0]-b[3])<1e-3: sel.append(t)
print("fillet edges",sel)
body=o.fillet([body[0][1]],sel,[8.0]); o.synchronize()
# pin rings as volumes of their own
ring=o.addCylinder(0,50,-41,0,0,82,15)
parts,mp=o.fragment(body,[(3,ring)]); 
o.synchronize()
vols=gmsh.model.getEntities(3); 
rings=[];des=[];rem=[]
for d,t in vols:
    x,y,z=o.getCenterOfMass(d,t); m=o.getMass(d,t); b=gmsh.model.getBoundingBox(d,t)
    if abs(b[0]+60)<1e-3: des.append(t)
    elif b[2]<-40.5 or b[5]>40.5 or (b[2]>-15.1 and b[5]<15.1 and b[1]>34.9) : rem.append((d,t))
    else: rings.append(t)
    print(t,m,b)
if rem: o.remove(rem,recursive=True); o.synchronize()
print("design",des,"rings",rings,"removed",rem)
bolts=[];pinf=[];bottom=[]
for d,t in gmsh.model.getEntities(2):
    b=gmsh.model.getBoundingBox(d,t); up=gmsh.model.getAdjacencies(2,t)[0]
    if len(up)!=1: continue
    if gmsh.model.getType(2,t)=="Cylinder" and b[4]-b[1]>19.9 and b[3]-b[0]<10.1 : bolts.append(t)
    if gmsh.model.getType(2,t)=="Cylinder" and abs(b[3]-b[0]-20)<.1: pinf.append(t)
    if abs(b[4])<1e-3: bottom.append(t)
print("bolts",bolts,"pin",pinf,"bottom",bottom)
g=gmsh.model.addPhysicalGroup
g(3,des,name="body"); g(3,rings,name="pin rings"); g(2,bolts,name="bolts"); g(2,pinf,name="pin"); g(2,bottom,name="bottom")
gmsh.option.setNumber("Mesh.MeshSizeMax",h); gmsh.option.setNumber("Mesh.MeshSizeMin",h/2); gmsh.option.setNumber("Mesh.MeshSizeFromCurvature",8)
gmsh.option.setNumber("Mesh.SubdivisionAlgorithm",2); gmsh.option.setNumber("General.NumThreads",1); gmsh.option.setNumber("Mesh.SecondOrderLinear",1)
gmsh.model.mesh.generate(3)
gmsh.write("bracket.msh")
gmsh.write("bracket.step")
gmsh.finalize()
