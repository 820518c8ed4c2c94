# gnuplot -e "kind='svg'" docs/plots/constraints_figures.gp, from the project's folder: the four
# figures of [WX19], synthetic rows (index 0) and covertype (index 1).
if (!exists("kind")) kind = 'svg'
set terminal svg size 900,700 font 'sans,12' background 'white' dynamic
if (kind eq 'png') set terminal pngcairo size 900,700 font 'sans,10'
set output sprintf('docs/plots/constraints_figures.%s', kind)
set multiplot layout 2,2
set grid lc rgb '#dddddd'
set logscale xy
set ylabel 'projected gradient norm'
set key top right
set yrange [*:1]
set title '1: against epsilon, T = 200'
set xlabel 'epsilon'
f = 'docs/results/utility_constraints_fig1.dat'
plot f index 0 using 1:2 with linespoints pt 7 lw 2 lc rgb '#1b6ca8' title 'synthetic', \
     f index 0 using 1:3 with linespoints pt 6 dt 2 lc rgb '#1b6ca8' title 'synthetic, corrected formula', \
     f index 1 using 1:2 with linespoints pt 5 lw 2 lc rgb '#d1495b' title 'covertype', \
     f index 1 using 1:3 with linespoints pt 4 dt 2 lc rgb '#d1495b' title 'covertype, corrected formula'
set yrange [*:*]
set title '2: against T, epsilon = 2'
set xlabel 'T'
f = 'docs/results/utility_constraints_fig2.dat'
plot f index 0 using 1:2 with linespoints pt 7 lw 2 lc rgb '#1b6ca8' title 'synthetic', \
     f index 1 using 1:2 with linespoints pt 5 lw 2 lc rgb '#d1495b' title 'covertype'
set title '3: against n, epsilon = 2, T = 400'
set xlabel 'n'
f = 'docs/results/utility_constraints_fig3.dat'
plot f index 0 using 1:2 with linespoints pt 7 lw 2 lc rgb '#1b6ca8' title 'synthetic', \
     f index 1 using 1:2 with linespoints pt 5 lw 2 lc rgb '#d1495b' title 'covertype'
set title '4: calibrations, synthetic, T = 200'
unset logscale x
set xrange [-0.5:3.5]
set xtics ('advanced' 0, 'moments' 1, 'zCDP' 2, 'exact' 3)
set xlabel ''
f = 'docs/results/utility_constraints_fig4.dat'
plot f index 0 every ::0::0 using (0):6 with points pt 7 ps 1.5 lc rgb '#1b6ca8' title 'epsilon 0.5', \
     f index 0 every ::0::0 using (1):7 with points pt 7 ps 1.5 lc rgb '#1b6ca8' notitle, \
     f index 0 every ::0::0 using (2):8 with points pt 7 ps 1.5 lc rgb '#1b6ca8' notitle, \
     f index 0 every ::0::0 using (3):9 with points pt 7 ps 1.5 lc rgb '#1b6ca8' notitle, \
     f index 0 every ::1::1 using (0):6 with points pt 5 ps 1.5 lc rgb '#d1495b' title 'epsilon 2', \
     f index 0 every ::1::1 using (1):7 with points pt 5 ps 1.5 lc rgb '#d1495b' notitle, \
     f index 0 every ::1::1 using (2):8 with points pt 5 ps 1.5 lc rgb '#d1495b' notitle, \
     f index 0 every ::1::1 using (3):9 with points pt 5 ps 1.5 lc rgb '#d1495b' notitle
unset multiplot
