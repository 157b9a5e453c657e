"""Tip of a beam in bending: tetrahedra as they are (CalculiX) and cut into hexahedra, and bricks.

Needs ccx, topopt, and Gmsh, meshio and numpy of Python.
"""
import gmsh,subprocess,numpy as np,meshio,sys
L,H=10.,1.; E,nu=1000.,0.3; P=1.0
G=E/2/(1+nu); I=H**4/12; A=H*H
theory=P*L**3/3/E/I+P*L/(5/6*G*A)
def tets(size,order):
    gmsh.initialize(); gmsh.option.setNumber('General.Terminal',0)
    gmsh.model.occ.addBox(0,0,0,L,H,H); gmsh.model.occ.synchronize()
    gmsh.option.setNumber('Mesh.MeshSizeMax',size); gmsh.option.setNumber('Mesh.MeshSizeMin',size)
    gmsh.model.mesh.generate(3); gmsh.model.mesh.setOrder(order)
    t,x,_=gmsh.model.mesh.getNodes(); x=np.array(x).reshape(-1,3)
    et,tags,nn=gmsh.model.mesh.getElements(3)
    k={1:4,2:10}[order]; con=np.array(nn[0]).reshape(-1,k)
    gmsh.finalize(); idx={int(a):i for i,a in enumerate(t)}
    con=np.vectorize(lambda a: idx[int(a)])(con)
    used=np.unique(con); m=-np.ones(len(x),int); m[used]=range(len(used))
    con=m[con]; x=x[used]
    if order==2: con=con[:,[0,1,2,3,4,5,6,7,9,8]]
    return x,con
def bricks(n):
    nx=10*n
    X=[[i/n*H,j/n*H,k/n*H] for k in range(n+1) for j in range(n+1) for i in range(nx+1)]
    nid=lambda i,j,k:i+(nx+1)*(j+(n+1)*k)
    c=[[nid(i,j,k),nid(i+1,j,k),nid(i+1,j+1,k),nid(i,j+1,k),nid(i,j,k+1),nid(i+1,j,k+1),nid(i+1,j+1,k+1),nid(i,j+1,k+1)] for k in range(n) for j in range(n) for i in range(nx)]
    return np.array(X),np.array(c)
def deck(name,x,con,kind):
    end=[i+1 for i in range(len(x)) if abs(x[i,0]-L)<1e-9]; fix=[i+1 for i in range(len(x)) if abs(x[i,0])<1e-9]
    with open(name+'.inp','w') as f:
        f.write('*NODE, NSET=NALL\n'); [f.write('%d, %.12g, %.12g, %.12g\n'%(i+1,*p)) for i,p in enumerate(x)]
        f.write('*ELEMENT, TYPE=%s, ELSET=EALL\n'%kind); [f.write(', '.join(str(v) for v in [i+1]+[int(a)+1 for a in c])+'\n') for i,c in enumerate(con)]
        f.write('*NSET, NSET=FIX\n'+',\n'.join(map(str,fix))+'\n*NSET, NSET=END\n'+',\n'.join(map(str,end))+'\n')
        f.write('*MATERIAL, NAME=M\n*ELASTIC\n%g, %g\n*SOLID SECTION, ELSET=EALL, MATERIAL=M\n*STEP\n*STATIC\n*BOUNDARY\nFIX, 1, 3\n'%(E,nu))
        f.write('*DLOAD\nEALL, GRAV, 0.3, 0, 0, -1\n' if 0 else '')
        f.write('*CLOAD\nEND, 3, %.12g\n'%(-P/len(end)))
        f.write('*NODE PRINT, NSET=END\nU\n*END STEP\n')
def ccx(name):
    subprocess.run(['ccx',name],capture_output=True)
    u=[]
    for l in open(name+'.dat'):
        f=l.split()
        if len(f)==4:
            try: u.append(float(f[3]))
            except ValueError: pass
    return -np.mean(u)
def ours(name):
    subprocess.run(['rm','-rf','o_'+name,name+'.toml'])
    open(name+'.toml','w').write(f'''[mesh]
file="{name}.inp"
[material]
youngs_modulus={E}
poissons_ratio={nu}
[[select]]
name="tip"
kind="faces"
plane={{point=[{L},0,0],normal=[1.0,0,0]}}
[[select]]
name="held"
kind="nodes"
plane={{point=[0.0,0,0],normal=[1.0,0,0]}}
[[supports]]
set="held"
[[loads]]
set="tip"
total_force=[0.0,0.0,{-P}]
[design]
keep_loaded = "free"
volume_fraction=1.0
[filter]
kind="none"
[optimizer]
max_iterations=1
[solver]
tolerance=1e-10
early_tolerance=1e-10
''')
    r=subprocess.run(['topopt','run',name+'.toml','-o','o_'+name,'--log','quiet'],capture_output=True,text=True)
    if r.returncode: return None,r.stderr[-300:]
    m=meshio.read('o_'+name+'/design.vtu'); d=m.point_data['displacement']; e=np.abs(m.points[:,0]-L)<1e-9
    return -d[e,2].mean(),len(m.points)
for s in (1.0,0.5,0.25):
    x,c=tets(s,1); deck('t4',x,c,'C3D4'); a=ccx('t4'); b,n=ours('t4')
    x2,c2=tets(s,2); deck('t10',x2,c2,'C3D10'); q=ccx('t10'); b2,n2=ours('t10')
    print(f'size {s}: tet4 {len(x)} nodes {a/theory:.3f} | cut {n} nodes {b and b/theory:.3f} | tet10 {len(x2)} nodes {q/theory:.3f} | cut of tet10 {n2} nodes {b2 and b2/theory:.3f}',flush=True)
for n in (1,2,4,6):
    x,c=bricks(n); deck('h8',x,c,'C3D8'); b,m=ours('h8'); 
    deck('h8i',x,c,'C3D8I'); i=ccx('h8i')
    print(f'bricks {n} across: {m} nodes {b/theory:.3f}, C3D8I {i/theory:.3f}',flush=True)
