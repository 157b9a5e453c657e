"""Writes a box of N x M x K bricks of six tetrahedra each as a binary Gmsh file. kuhn.py FILE NX NY NZ LX LY LZ"""
import sys, struct, itertools
from array import array
f, nx, ny, nz = sys.argv[1], *map(int, sys.argv[2:5]); lx, ly, lz = map(float, sys.argv[5:8])
nid = lambda i, j, k: (i*(ny+1)+j)*(nz+1)+k+1
with open(f, 'wb') as o:
    o.write(b'$MeshFormat\n2.2 1 8\n' + struct.pack('=i', 1) + b'\n$EndMeshFormat\n$Nodes\n%d\n' % ((nx+1)*(ny+1)*(nz+1)))
    n = 0
    for i in range(nx+1):
        b = bytearray()
        for j in range(ny+1):
            for k in range(nz+1):
                n += 1; b += struct.pack('=iddd', n, lx*i/nx, ly*j/ny, lz*k/nz)
        o.write(b)
    o.write(b'\n$EndNodes\n$Elements\n%d\n' % (6*nx*ny*nz))
    paths = []
    for p in itertools.permutations(range(3)):
        d = [0, 0, 0]; c = [0]
        for a in p: d[a] += 1; c.append(nid(*d)-1)
        even = p in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
        paths.append(c if even else [c[0], c[2], c[1], c[3]])
    o.write(struct.pack('=iii', 4, 6*nx*ny*nz, 2)); e = 0
    for i in range(nx):
        a = array('i')
        for j in range(ny):
            for k in range(nz):
                b = nid(i, j, k)
                for c in paths:
                    e += 1; a.extend((e, 1, 1, b+c[0], b+c[1], b+c[2], b+c[3]))
        o.write(a.tobytes())
    o.write(b'\n$EndElements\n')
