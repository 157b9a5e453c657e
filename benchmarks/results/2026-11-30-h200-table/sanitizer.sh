set -u
cd target/gpu; xz -dk -f device.xz; chmod +x device
nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
for t in tetrahedra_multigrid multigrid:: diffusion scalar_multigrid; do echo "== $t"; timeout 40 ./device $t 2>&1 | grep "^test result\|FAILED\|panicked"; done
for tool in memcheck racecheck; do for t in tetrahedra_multigrid::every_level corner_maps element_bounds laws::products diffusion::every_part_equals_the_reference_in_double multigrid::every_level patch_relax::steps; do
echo "== $tool $t"; timeout 35 compute-sanitizer --tool $tool ./device $t > s.log 2>&1; echo "rc $?"; grep "SUMMARY\|test result" s.log; [ $tool = racecheck ] && grep "Warning\|Error" s.log | sed 's/0x[0-9a-f]*//g' | sort | uniq -c | sort -rn | head -5; done; done
