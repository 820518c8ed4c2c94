# gnuplot -e "kind='svg'" docs/plots/constraints_dimension.gp, from the project's folder.
if (!exists("kind")) kind = 'svg'
set terminal svg size 900,380 font 'sans,12' background 'white' dynamic
if (kind eq 'png') set terminal pngcairo size 900,380 font 'sans,10'
set output sprintf('docs/plots/constraints_dimension.%s', kind)
set multiplot layout 1,2
set logscale xy
set format x '10^{%L}'
set format y '10^{%L}'
set grid lc rgb '#dddddd'
set key bottom right
set xlabel 'dimension d'
set ylabel 'Frank–Wolfe gap'
do for [panel in "dense sparse"] {
  set title (panel eq 'dense' ? 'dense ±1 rows' : 'sparse rows, 50 entries on average')
  file = sprintf('docs/results/utility_constraints_%s.dat', panel)
  plot file using 1:2 with linespoints pt 7 lw 2 lc rgb '#1b6ca8' title 'dp-fw-l1', \
       file using 1:3 with linespoints pt 5 lw 2 lc rgb '#d1495b' title 'dp-fw-l2', \
       file using 1:4 with linespoints pt 9 lw 2 lc rgb '#edae49' title 'dp-pmd', \
       file using 1:5 with linespoints pt 11 lw 2 lc rgb '#66757f' title 'dp-pgd'
}
unset multiplot
