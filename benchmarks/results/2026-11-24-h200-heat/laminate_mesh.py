import sys
n=int(sys.argv[1]); h=10.0/n; a=3*n+1; c=n+1
f=open(sys.argv[2],'w',1<<22); w=f.write
w("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n"%(a*a*c))
k=1
for z in range(c):
  for y in range(a):
    w("".join("%d %.17g %.17g %.17g\n"%(k+x,x*h-15,y*h-15,z*h) for x in range(a))); k+=a
w("$EndNodes\n$Elements\n%d\n"%(9*n*n*n)); e=1
for z in range(n):
  for y in range(a-1):
    o=1+z*a*a+y*a
    w("".join("%d 5 2 1 1 %d %d %d %d %d %d %d %d\n"%(e+x,o+x,o+x+1,o+x+a+1,o+x+a,o+x+a*a,o+x+a*a+1,o+x+a*a+a+1,o+x+a*a+a) for x in range(a-1))); e+=a-1
w("$EndElements\n"); f.close()
