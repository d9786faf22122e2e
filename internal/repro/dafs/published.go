package dafs

import (
	"github.com/throng-dev/throng/internal/repro/experiment"
)

// Figures of the paper, and of the result files that its authors published with
// their program (github.com/dedcode/CrowdScheduler, deadline-aware-simulation-results).
// A test holds them against the reference data where that is there.

// sourceTable3 names the paper's Table 3. Its "mean" columns are means over
// scenarios, its "std" columns medians over scenarios: so they are in comp.csv,
// of whose seeds 1 to 49 its rows for EDF and FS are the means and medians, to
// every digit.
const sourceTable3 = "Table 3"

// table3 is Table 3 of the paper, by policy.
var table3 = map[string]struct {
	main      [4]float64 // main4
	seconds   float64
	scenarios int // in Figures 13 and 14, by the notches of the plots
}{
	"DAFS":  {[4]float64{0.968, 0.001, 0.943, 0.018}, 22983.559, 32},
	"EDF":   {[4]float64{0.988, 0.001, 0.760, 0.082}, 795.865, 49},
	"FS":    {[4]float64{0.972, 0.115, 0.999, 0.012}, 682.937, 49},
	"SDAFS": {[4]float64{0.883, 0.001, 0.888, 0.050}, 750.643, 49},
}

// A moment is the mean and the standard deviation of a figure over scenarios.
type moment struct{ mean, sd float64 }

// A resultFile is the summary of one policy in one result file.
type resultFile struct {
	file      string
	window    float64
	policy    string
	scenarios int               // seeds 1 to this
	figures   [published]moment // by metric.place
	seconds   moment            // to simulate one
}

// resultFiles summarise comp.csv and final1200.csv, duplicate rows left out.
var resultFiles = []resultFile{
	{"comp.csv", 2400, "EDF", 100,
		[published]moment{{0.9828, 0.06867}, {0.04152, 0.10213}, {0.76592, 0.33268}, {0.18238, 0.19185},
			{0.0042, 0.00435}, {0.29941, 0.10733}, {0.453, 0.15182}, {0.52672, 0.16526}, {0.5758, 0.16865}, {0.61331, 0.16882}}, moment{185.11399, 122.3094}},
	{"comp.csv", 2400, "FS", 100,
		[published]moment{{0.97295, 0.02632}, {0.09365, 0.08078}, {0.99942, 0.0007}, {0.01244, 0.01258},
			{0.00063, 0.00178}, {0.02856, 0.03969}, {0.06018, 0.06383}, {0.1159, 0.07758}, {0.21578, 0.08509}, {0.36468, 0.08443}}, moment{157.94212, 147.98155}},
	{"comp.csv", 2400, "SDAFS", 100,
		[published]moment{{0.95571, 0.11809}, {0.07815, 0.13161}, {0.94836, 0.14431}, {0.08324, 0.14441},
			{0.0011, 0.00211}, {0.06213, 0.05453}, {0.19321, 0.11369}, {0.28678, 0.14607}, {0.35511, 0.16935}, {0.41095, 0.17949}}, moment{165.44902, 129.16485}},
	{"final1200.csv", 1200, "EDF", 100,
		[published]moment{{0.98059, 0.07238}, {0.04316, 0.10853}, {0.68298, 0.31438}, {0.29367, 0.18086},
			{0.00483, 0.00576}, {0.33883, 0.11455}, {0.52715, 0.16337}, {0.62092, 0.17518}, {0.68464, 0.17465}, {0.73081, 0.1741}}, moment{72.91247, 19.78495}},
	{"final1200.csv", 1200, "FS", 100,
		[published]moment{{0.92911, 0.03766}, {0.17556, 0.07915}, {0.99784, 0.00152}, {0.02885, 0.01651},
			{6e-05, 0.00062}, {0.00628, 0.0163}, {0.02528, 0.02917}, {0.07794, 0.04642}, {0.18352, 0.06894}, {0.33922, 0.08574}}, moment{54.08663, 19.30789}},
	{"final1200.csv", 1200, "SDAFS", 100,
		[published]moment{{0.89234, 0.20334}, {0.14387, 0.18532}, {0.89264, 0.17856}, {0.1671, 0.15875},
			{0.00138, 0.00316}, {0.13663, 0.06578}, {0.25342, 0.10681}, {0.33634, 0.12478}, {0.39697, 0.14134}, {0.4473, 0.15077}}, moment{64.14426, 18.16725}},
	{"final1200.csv", 1200, "DAFS", 100,
		[published]moment{{0.93476, 0.14246}, {0.12724, 0.13941}, {0.77361, 0.3512}, {0.15221, 0.14127},
			{0.00094, 0.00258}, {0.15918, 0.04738}, {0.30803, 0.08559}, {0.41836, 0.11146}, {0.5, 0.12652}, {0.56314, 0.13713}}, moment{2614.15351, 1741.09145}},
}

// A box is a median with its quartiles, read off a box plot.
type box struct{ median, q1, q3 float64 }

// figure is the median of n scenarios as a published figure.
func (b box) figure(n int) experiment.Figure { return experiment.OfMedian(b.median, b.q1, b.q3, n) }

func fileOf(name, policy string) *resultFile {
	for i := range resultFiles {
		if f := &resultFiles[i]; f.file == name && f.policy == policy {
			return f
		}
	}
	return nil
}

// A boxPlot is the boxes of one policy.
type boxPlot struct {
	scenarios int            // from the width of the notch
	figures   [published]box // by metric.place; that of meanDead is not plotted
}

// boxes are the box plots 2400agg_*_boxplot.pgf of the result files, which are
// the paper's Figures 13 and 14, by policy; their data are published nowhere else.
var boxes = map[string]boxPlot{
	"DAFS": {32, [published]box{{}, {0.0, 0.0, 0.0782}, {0.9993, 0.9598, 1.0}, {0.0181, 0.0, 0.1788},
		{0.0, 0.0, 0.0008}, {0.1687, 0.1406, 0.2242}, {0.3172, 0.2773, 0.3894}, {0.4328, 0.3711, 0.4783}, {0.5141, 0.4375, 0.5608}, {0.5672, 0.4969, 0.6166}}},
	"EDF": {49, [published]box{{}, {0.0, 0.0, 0.043}, {0.9495, 0.7028, 1.0}, {0.0821, 0.0, 0.3444},
		{0.0031, 0.0, 0.0062}, {0.3187, 0.25, 0.3542}, {0.4625, 0.3812, 0.5375}, {0.5312, 0.4562, 0.6281}, {0.5962, 0.5156, 0.6762}, {0.6344, 0.5687, 0.7192}}},
	"FS": {49, [published]box{{}, {0.1159, 0.0, 0.1754}, {0.9995, 0.9987, 1.0}, {0.0115, 0.0, 0.0262},
		{0.0, 0.0, 0.0}, {0.0095, 0.0, 0.0469}, {0.0312, 0.0129, 0.0906}, {0.0844, 0.0594, 0.175}, {0.1969, 0.1531, 0.2781}, {0.35, 0.3094, 0.4344}}},
	"SDAFS": {49, [published]box{{}, {0.0, 0.0, 0.2822}, {0.9955, 0.8525, 1.0}, {0.0503, 0.0, 0.3106},
		{0.0, 0.0, 0.0031}, {0.1344, 0.0656, 0.1812}, {0.2476, 0.1325, 0.2937}, {0.3062, 0.1789, 0.3937}, {0.3531, 0.2186, 0.45}, {0.425, 0.2605, 0.4969}}},
}
