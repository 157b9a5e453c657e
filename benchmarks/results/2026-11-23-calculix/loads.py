"""Displacements of a deck with each kind of load by CalculiX (`ccx`) and by `topopt init` and `topopt run`.

Run beside ccx.inp and mesh.inc, a cantilever of 1,280 bricks as PrePoMax writes it, with meshio and numpy.
"""
import subprocess

import meshio
import numpy as np


def read(path):
    grid = meshio.read(path)
    name = next(name for name in grid.point_data if name.startswith('displacement'))
    return grid.points, grid.point_data[name]


base=open('ccx.inp').read()
head=base[:base.index('*Step')]
loads={'cload':'*Cload\nRef, 2, -500\n','pressure':'*Dload\nInternal_Selection-1_Pressure-1_S5, P5, 2.0\n','grav':'*Dload\nSolid_part-1, GRAV, 9810., 0., -1., 0.\n','centrif':'*Dload\nSolid_part-1, CENTRIF, 360000., 0., 8., 8., 0., 0., 1.\n','displaced':'*Boundary\nRef, 2, 2, -0.25\n'}
for name,load in loads.items():
    open(name+'.inp','w').write(head+'*Step\n*Static\n*Boundary\nFix, 1, 3, 0\n'+load+'*Node print, nset=NALL\nU\n*End step\n')
    t=open(name+'.inp').read()
    # all nodes
    t=t.replace('*Step\n*Static','*Nset, nset=NALL, generate\n1, 1701, 1\n*Step\n*Static'); open(name+'.inp','w').write(t)
    r=subprocess.run(['ccx',name],capture_output=True,text=True)
    u={}
    for l in open(name+'.dat'):
        f=l.split()
        if len(f)==4:
            try: u[int(f[0])]=[float(v) for v in f[1:]]
            except ValueError: pass
    subprocess.run(['rm','-f',name+'.toml']); subprocess.run(['rm','-rf','o_'+name])
    r=subprocess.run(['topopt','init',name+'.inp'],capture_output=True,text=True)
    if r.returncode: print(name,r.stderr); continue
    r=subprocess.run(['topopt','run',name+'.toml','-o','o_'+name,'--set','design.volume_fraction=1.0','--set','optimizer.max_iterations=1','--set','solver.tolerance=1e-12','--set','solver.early_tolerance=1e-12','--set','design.interpolation=ramp','--log','quiet'],capture_output=True,text=True)
    if r.returncode: print(name,r.stderr[-400:]); continue
    x,d=read('o_'+name+'/design.vtu')
    if len(u)<1701: print(name,'ccx rows',len(u)); continue
    U=np.array([u[i] for i in range(1,1702)])
    print(name, 'largest |u|', np.abs(U).max(), 'largest difference relative', np.abs(U-d).max()/np.abs(U).max())


ref='*Node, nset=REFP\n5000, 50., 8., 8.\n5001, 50., 9., 8.\n*Coupling, constraint name=C1, ref node=5000, surface=Trac\n*Distributing\n1,6\n'
for name,load in {'remote':'*Cload\n5000, 2, -100.\n','moment':'*Cload\n5000, 4, 1000.\n'}.items():
    t=head.replace('*Solid section',ref.split('*Coupling')[0]+'*Solid section')
    t+=ref[ref.index('*Coupling'):]
    t+='*Nset, nset=NALL, generate\n1, 1701, 1\n*Step\n*Static\n*Boundary\nFix, 1, 3, 0\n'+load+'*Node print, nset=NALL\nU\n*End step\n'
    open(name+'.inp','w').write(t)
    r=subprocess.run(['ccx',name],capture_output=True,text=True)
    u={}
    try:
        for l in open(name+'.dat'):
            f=l.split()
            if len(f)==4:
                try: u[int(f[0])]=[float(v) for v in f[1:]]
                except ValueError: pass
    except OSError: pass
    if len(u)<1701: print(name,'ccx',len(u),[l for l in r.stdout.splitlines() if 'ERROR' in l or 'rror' in l][:6]); 
    subprocess.run(['rm','-f',name+'.toml']); subprocess.run(['rm','-rf','o_'+name])
    r=subprocess.run(['topopt','init',name+'.inp'],capture_output=True,text=True); print(r.stdout[-300:],r.stderr[-300:])
    r=subprocess.run(['topopt','run',name+'.toml','-o','o_'+name,'--set','design.volume_fraction=1.0','--set','optimizer.max_iterations=1','--set','solver.tolerance=1e-12','--set','solver.early_tolerance=1e-12','--log','quiet'],capture_output=True,text=True)
    if r.returncode: print(name,r.stderr[-400:]); continue
    x,d=read('o_'+name+'/design.vtu')
    if len(u)<1701: continue
    U=np.array([u[i] for i in range(1,1702)])
    print(name,'largest |u|',np.abs(U).max(),'relative difference',np.abs(U-d).max()/np.abs(U).max())
