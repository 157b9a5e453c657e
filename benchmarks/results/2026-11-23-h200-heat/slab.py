import sys
n=int(sys.argv[1]); m=n//2; h=2.0/n
f=open(sys.argv[2],'w',1<<20)
w=f.write
nn=(n+1)*(m+1)*2; ne=n*m
w("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n"%nn)
k=1
for z in (0.0,h):
  for j in range(m+1):
    y=j*h
    w("".join("%d %.17g %.17g %.17g\n"%(k+i,i*h,y,z) for i in range(n+1))); k+=n+1
w("$EndNodes\n$Elements\n%d\n"%ne)
s=(n+1)*(m+1); e=1
for j in range(m):
  o=j*(n+1)
  w("".join("%d 5 2 1 1 %d %d %d %d %d %d %d %d\n"%(e+i,o+i+1,o+i+2,o+i+n+3,o+i+n+2,s+o+i+1,s+o+i+2,s+o+i+n+3,s+o+i+n+2) for i in range(n))); e+=n
w("$EndElements\n")
f.close()
