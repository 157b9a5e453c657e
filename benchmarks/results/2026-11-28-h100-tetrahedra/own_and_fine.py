"""Compliance of designs on their own meshes beside that of the same field on meshes refined three times (hexahedra) or four times (tetrahedra)."""
import itertools, sys, numpy as np, topopt3d
def box(n, L):
    g = np.stack(np.meshgrid(*[np.linspace(0, l, k+1) for k, l in zip(n, L)], indexing='ij'), -1).reshape(-1, 3)
    i, j, k = [a.ravel() for a in np.meshgrid(*map(np.arange, n), indexing='ij')]
    v = lambda a, b, c: ((i+a)*(n[1]+1) + j+b)*(n[2]+1) + k+c
    return g, v
def hexes(n, L):
    g, v = box(n, L)
    return g, np.stack([v(0,0,0), v(1,0,0), v(1,1,0), v(0,1,0), v(0,0,1), v(1,0,1), v(1,1,1), v(0,1,1)], 1)
def tets(n, L):
    g, v = box(n, L); out = []
    for p in itertools.permutations(range(3)):
        d = [0,0,0]; c = [v(0,0,0)]
        for a in p: d[a] += 1; c.append(v(*d))
        out.append(np.stack(c, 1))
    t = np.stack(out, 1).reshape(-1, 4)
    x = g[t]; neg = np.linalg.det(x[:,1:]-x[:,:1]) < 0
    t[neg] = t[neg][:, [0,2,1,3]]
    return g, t
def red(g, t):
    E = [(0,1),(0,2),(0,3),(1,2),(1,3),(2,3)]
    ed = np.sort(t[:, E].reshape(-1, 2), 1); u, inv = np.unique(ed, axis=0, return_inverse=True); m = len(g) + inv.reshape(-1, 6)
    g2 = np.vstack([g, g[u].mean(1)]); a, b, c, d = t.T; ab, ac, ad, bc, bd, cd = m.T
    kids = [(a,ab,ac,ad),(ab,b,bc,bd),(ac,bc,c,cd),(ad,bd,cd,d),(ab,ac,ad,bd),(ab,ac,bd,bc),(ac,ad,bd,cd),(ac,bd,bc,cd)]
    t2 = np.stack([np.stack(q, 1) for q in kids], 1).reshape(-1, 4)
    x = g2[t2]; neg = np.linalg.det(x[:,1:]-x[:,:1]) < 0; t2[neg] = t2[neg][:, [0,2,1,3]]
    return g2, t2
def case(g, kind, cells, L, elements=None, **more):
    x = g[:, 0]; mesh = topopt3d.Mesh(g, {kind: cells}, point_sets={'wall': x < 1e-9})
    q = dict(mesh=mesh, material=dict(youngs_modulus=210e3, poissons_ratio=0.3), supports=[dict(set='wall')],
        select=[dict(name='end', kind='faces', plane=dict(point=[L[0],0,0], normal=[1,0,0]))],
        loads=[dict(set='end', total_force=[0, 0, 10])], design=dict(volume_fraction=0.5), filter=dict(radius=5.0), solver=dict(tolerance=1e-7, device='cpu'))
    if elements: q['elements'] = dict(kind=elements)
    q.update(more); return topopt3d.Case(**q)
L = (120., 20., 2.)
for name, n in [('one through', (60, 10, 1)), ('two through', (120, 20, 2))][:int(sys.argv[1])]:
    for kind in ('incompatible_modes', 'full'):
        g, c = hexes(n, L); own = topopt3d.run(case(g, 'hexahedron', c, L, kind))
        rho = own.density; a = topopt3d.solve(case(g, 'hexahedron', c, L, kind), density=rho).numbers['load_cases'][0]['compliance']
        m = tuple(3*k for k in n); g2, c2 = hexes(m, L); cell = rho.reshape(n)
        for ax in range(3): cell = np.repeat(cell, 3, axis=ax)
        b = topopt3d.solve(case(g2, 'hexahedron', c2, L), density=cell.ravel()).numbers['load_cases'][0]['compliance']
        print('hexahedra', name, kind, len(c), 'own %.6g fine %.6g ratio %.4f' % (a, b, a/b), flush=True)
    g, t = tets(n, L); own = topopt3d.run(case(g, 'tetra', t, L)); rho = own.density
    a = topopt3d.solve(case(g, 'tetra', t, L), density=rho).numbers['load_cases'][0]['compliance']
    g2, t2 = red(g, t); r2 = np.repeat(rho, 8)
    if len(t) < 5000: g2, t2 = red(g2, t2); r2 = np.repeat(r2, 8)
    b = topopt3d.solve(case(g2, 'tetra', t2, L), density=r2).numbers['load_cases'][0]['compliance']
    print('tetrahedra', name, len(t), 'own %.6g fine %.6g ratio %.4f' % (a, b, a/b), flush=True)
