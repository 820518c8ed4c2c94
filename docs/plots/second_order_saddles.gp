# gnuplot -e "kind='svg'" docs/plots/second_order_saddles.gp, from the project's folder, after docs/plots/second_order.py.
if (!exists("kind")) kind = 'svg'
set terminal svg size 900,420 font 'sans,12' background 'white' dynamic
if (kind eq 'png') set terminal pngcairo size 900,420 font 'sans,10'
set output sprintf('docs/plots/second_order_saddles.%s', kind)
set title 'Phase retrieval from its strict saddle, ε = 1: passes until the curvature is good, best of each grid'
set style fill solid 0.9
set boxwidth 0.6
set logscale y
set yrange [0.004:20]
set grid y lc rgb '#dddddd'
set xtics rotate by -35
set ylabel 'passes over the data'
set key top left
f = 'docs/results/utility_second_order_saddles.dat'
plot f using ($2 > 0 ? $2 : NaN):xtic(1) with boxes lc rgb '#1b6ca8' title 'second order', \
     f using ($3 > 0 ? $3 : NaN):xtic(1) with boxes lc rgb '#d1495b' title 'first order'
