"""Bending of bars whose one half is hexahedra and whose other half is 10-node tetrahedra behind a layer of pyramids; middles of
edges that a hexahedron or pyramid has too are the means of their ends."""
import itertools, sys
import numpy as np, scipy.sparse as sp, scipy.sparse.linalg as sl
E, nu = 1000.0, 0.3
lam, mu = E*nu/((1+nu)*(1-2*nu)), E/2/(1+nu)
D = np.zeros((6, 6)); D[:3, :3] = lam; D[range(3), range(3)] += 2*mu; D[range(3, 6), range(3, 6)] = mu
def B(g):
    b = np.zeros((6, 3*len(g)))
    for a, (x, y, z) in enumerate(g):
        b[:, 3*a:3*a+3] = [[x,0,0],[0,y,0],[0,0,z],[y,x,0],[0,z,y],[z,0,x]]
    return b
S = np.array([[-1,-1,-1],[1,-1,-1],[1,1,-1],[-1,1,-1],[-1,-1,1],[1,-1,1],[1,1,1],[-1,1,1]], float)
G = np.array(list(itertools.product((-1, 1), repeat=3)))/np.sqrt(3)
def dN(x): return np.array([[s[i]*np.prod([1+s[j]*x[j] for j in range(3) if j != i])/8 for i in range(3)] for s in S])
def hexa(X, modes):
    K = np.zeros((24, 24)); A = np.zeros((9, 24)); H = np.zeros((9, 9)); J0 = dN(np.zeros(3)).T @ X; d0 = np.linalg.det(J0)
    for x in G:
        J = dN(x).T @ X; det = np.linalg.det(J); b = B(dN(x) @ np.linalg.inv(J).T); K += det*b.T@D@b
        m = np.zeros((6, 9)); gi = np.diag(-2*x) @ np.linalg.inv(J0).T*d0/det
        for k in range(3): m[:, 3*k:3*k+3] = B(gi[k:k+1])
        A += det*m.T@D@b; H += det*m.T@D@m
    return K - A.T@np.linalg.solve(H, A) if modes else K
EDGES = [(0,1),(1,2),(2,0),(0,3),(1,3),(2,3)]
def tet(X):  # straight, 4 points
    J = (X[1:4]-X[0]); gl = np.zeros((4, 3)); gl[1:] = np.linalg.inv(J).T; gl[0] = -gl[1:].sum(0); V = abs(np.linalg.det(J))/6
    K = np.zeros((30, 30)); a, c = 0.58541020, 0.13819660
    for q in range(4):
        l = np.full(4, c); l[q] = a
        g = [(4*l[i]-1)*gl[i] for i in range(4)]+[4*(l[i]*gl[j]+l[j]*gl[i]) for i, j in EDGES]
        b = B(np.array(g)); K += V/4*b.T@D@b
    return K
def build(n, h, is_hex):
    """Cells n of size h; is_hex(i): hexahedra in layer i. Returns nodes, hexes, pyramids, tets."""
    nid = {}; X = []
    def node(p):
        p = tuple(p)
        if p not in nid: nid[p] = len(X); X.append(np.array(p)*h/2)
        return nid[p]
    hexes, pyr, tets = [], [], []
    for i, j, k in itertools.product(*map(range, n)):
        c = [node((2*(i+a), 2*(j+b), 2*(k+d))) for a, b, d in ((S+1)/2).astype(int)]
        if is_hex(i): hexes.append(c); continue
        m = node((2*i+1, 2*j+1, 2*k+1))
        for f, (axis, side) in {(0,3,7,4):(0,-1),(1,2,6,5):(0,1),(0,1,5,4):(1,-1),(3,2,6,7):(1,1),(0,1,2,3):(2,-1),(4,5,6,7):(2,1)}.items():
            q = [c[v] for v in f]
            if axis == 0 and 0 <= i+side < n[0] and is_hex(i+side): pyr.append(q+[m]); continue
            s = q.index(min(q)); q = q[s:]+q[:s]
            tets += [[q[0], q[1], q[2], m], [q[0], q[2], q[3], m]]
    return X, hexes, pyr, tets
def solve(n, h, is_hex, load='shear', quadratic=True):
    X, hexes, pyr, tets = build(n, h, is_hex); X = list(X); nv = len(X); X0 = np.array(X)
    linear = {tuple(sorted((e[a], e[b]))) for e in hexes for a in range(8) for b in range(8) if abs(S[a]-S[b]).sum() == 2}
    linear |= {tuple(sorted((e[a], e[b]))) for e in pyr for a, b in [(0,1),(1,2),(2,3),(3,0),(0,4),(1,4),(2,4),(3,4)]}
    mid = {}; rows, cols, vals = [], [], []
    T = []  # expansion of nodes: list of (node, share)
    own = {i: [(i, 1.0)] for i in range(nv)}; n_own = nv
    def middle(a, b):
        nonlocal n_own
        e = tuple(sorted((a, b)))
        if e not in mid:
            if e in linear or not quadratic: mid[e] = [(a, .5), (b, .5)]
            else: mid[e] = [(n_own, 1.0)]; X.append((X0[a]+X0[b])/2); n_own += 1
        return mid[e]
    def add(K, ex):
        idx = [(n_, s, a) for a, e in enumerate(ex) for n_, s in e]
        for (p, s, a), (q, t, b) in itertools.product(idx, idx):
            blk = s*t*K[3*a:3*a+3, 3*b:3*b+3]
            for i in range(3):
                for j in range(3): rows.append(3*p+i); cols.append(3*q+j); vals.append(blk[i, j])
    for e in hexes: add(hexa(X0[e], True), [own[v] for v in e])
    for e in pyr:  # collapsed hexahedron
        q = X0[e]; c = [0,1,2,3,4,4,4,4]
        if np.linalg.det(dN(np.zeros(3)).T @ q[c]) < 0: c = [3,2,1,0,4,4,4,4]
        add(hexa(q[c], False), [own[e[v]] for v in c])
    for e in tets:
        if np.linalg.det(X0[e[1:]]-X0[e[0]]) < 0: e = [e[1], e[0], e[2], e[3]]
        add(tet(X0[e]), [own[v] for v in e]+[middle(e[a], e[b]) for a, b in EDGES])
    X = np.array(X); N = 3*n_own
    K = sp.csr_matrix((vals, (rows, cols)), shape=(N, N)); L = n[0]*h[0]; W, T_ = n[1]*h[1], n[2]*h[2]
    if load == 'patch':
        A = np.array([[.1,.2,-.1],[.05,-.2,.3],[.1,.15,.25]]); u = X@A.T
        bd = np.any((X < 1e-9)|(abs(X-[L, W, T_]) < 1e-9), axis=1); fix = np.repeat(bd, 3)
        free = ~fix; v = u.flatten().copy(); v[free] = 0
        v[free] = sl.spsolve(K[free][:, free].tocsc(), -(K@v)[free]); return abs(v-u.flatten()).max()
    f = np.zeros(N); end = np.where(abs(X[:, 0]-L) < 1e-9)[0]
    cor = [i for i in end if abs(X[i, 1]-W/2) < 1e-9 or True]
    for i in cor: f[3*i+2] = 1/len(cor)
    fix = np.repeat(X[:, 0] < 1e-9, 3); free = ~fix; u = np.zeros(N); u[free] = sl.spsolve(K[free][:, free].tocsc(), f[free])
    w = u[2::3][end].mean(); I = W*T_**3/12; th = L**3/(3*E*I)+6/5*L/(mu*W*T_)
    return w/th
for n, h in [((20, 2, 2), (1., 1., 1.)), ((20, 4, 1), (1., 1., 1.)), ((40, 4, 2), (1., 1., .5)), ((20, 4, 1), (1., 1., .5))]:
    h = np.array(h); half = n[0]//2
    kinds = {'hexahedra': lambda i: True, 'tetrahedra': lambda i: False, 'hexahedra at the root': lambda i: i < half, 'tetrahedra at the root': lambda i: i >= half, 'alternating by 2': lambda i: i % 4 < 2}
    print(n, h, {k: round(float(solve(n, h, f)), 4) for k, f in kinds.items()}, 'linear tetrahedra at the root', round(float(solve(n, h, kinds['tetrahedra at the root'], quadratic=False)), 4), flush=True)
print('patch test, alternating', solve((6, 2, 2), np.array([1., .8, .7]), lambda i: i % 4 < 2, 'patch'))
