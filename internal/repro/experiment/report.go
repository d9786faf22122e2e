package experiment

import (
	"bytes"
	"encoding/base64"
	"encoding/csv"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/throng-dev/throng/internal/kit/format"
	"github.com/throng-dev/throng/internal/kit/lists"
)

// WriteTo makes a folder with the rows as CSV, each picture as SVG, and
// a report as Markdown and as a page that needs no other file. Files of the same
// names are replaced.
func (r *Result) WriteTo(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	files := map[string][]byte{"rows.csv": r.CSV(), "report.md": []byte(r.Markdown("."))}
	page := &bytes.Buffer{}
	fmt.Fprintf(page, "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\"><title>%s</title>\n<style>%s</style>\n<body>\n", html.EscapeString(r.Title), pageStyle)
	fmt.Fprintf(page, "<h1>%s</h1>\n<p>%s.</p>\n<p>%s</p>\n", html.EscapeString(r.Title), html.EscapeString(format.Capitalized(r.What)), html.EscapeString(strings.ReplaceAll(r.made(), "`", "")))
	for _, p := range r.Pictures {
		svg, err := p.Chart.SVG()
		if err != nil {
			return fmt.Errorf("picture %s: %w", p.Name, err)
		}
		files[p.Name+".svg"] = svg
		fmt.Fprintf(page, "<figure><img alt=\"%s\" src=\"data:image/svg+xml;base64,%s\"><figcaption>%s</figcaption></figure>\n",
			html.EscapeString(p.Words), base64.StdEncoding.EncodeToString(svg), html.EscapeString(p.Words))
	}
	page.WriteString(r.table())
	fmt.Fprintf(page, "<p>%s</p>\n", html.EscapeString(r.explained()))
	for _, n := range r.Notes {
		fmt.Fprintf(page, "<p>%s</p>\n", html.EscapeString(n))
	}
	page.WriteString("</body></html>\n")
	files["report.html"] = page.Bytes()
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

const pageStyle = `body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;font-size:.85rem}th,td{padding:.25rem .6rem;border-bottom:1px solid #ccc;text-align:left;vertical-align:top}
td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}img{max-width:100%}figure{margin:1rem 0}`

// Command is the command line that makes the result.
func (r *Result) Command() string {
	c := "throng paper run " + r.Name + " --reps " + strconv.Itoa(r.Reps)
	switch {
	case r.Extra > 0:
		c += " --extra-reps " + strconv.Itoa(r.Extra)
	case r.Extra < 0:
		c += " --no-extras"
	}
	if r.Small {
		c += " --small"
	}
	if r.File != "" {
		c += " --trace " + r.File
	}
	if r.Settings != "" {
		c += " " + r.Settings
	}
	if r.Seed != 1 {
		c += " --seed " + strconv.FormatUint(r.Seed, 10)
	}
	return c
}

// made says how the result came about.
func (r *Result) made() string {
	return fmt.Sprintf("Made by `%s`. Published figures: %s. %s", r.Command(), r.Source, r.Tally())
}

// Tally counts the verdicts, kind by kind.
func (r *Result) Tally() string {
	var parts []string
	for _, k := range Kinds() {
		n := lists.Map(Verdicts(), func(v Verdict) int { return r.Count(k, v) })
		if n[0]+n[1]+n[2] > 0 {
			parts = append(parts, fmt.Sprintf("%s: %d reproduced, %d differ, %d imprecise", k, n[0], n[1], n[2]))
		}
	}
	parts = append(parts, fmt.Sprintf("without a verdict: %d not simulatable, %d not in the paper", r.CountNone(NotSimulatable), r.CountNone(NotInPaper)))
	return fmt.Sprintf("%d rows. ", len(r.Rows)) + format.Capitalized(strings.Join(parts, "; ")) + "."
}

// explained tells where the reasons are explained.
func (r *Result) explained() string {
	return "Reasons in brackets, and what was taken for what the paper does not say: " + r.Doc + "."
}

// Markdown returns the report, its pictures in a folder.
func (r *Result) Markdown(pictures string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## %s\n\n%s.\n\n%s\n\n", r.Title, format.Capitalized(r.What), r.made())
	for _, p := range r.Pictures {
		fmt.Fprintf(&b, "![%s](%s)\n\n", p.Words, filepath.ToSlash(filepath.Join(pictures, p.Name+".svg")))
	}
	b.WriteString("| what | of | published | ours | kind | verdict |\n| --- | --- | ---: | ---: | --- | --- |\n")
	for _, row := range r.Rows {
		verdict := row.verdict()
		if row.Why != "" {
			verdict += " (`" + strings.ReplaceAll(row.Why, ", ", "`, `") + "`)"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", row.Name, row.Statistic, row.published(), row.ours(), row.Kind, verdict)
	}
	fmt.Fprintf(&b, "\n%s\n\n", r.explained())
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "%s\n\n", n)
	}
	return b.String()
}

func (r *Result) table() string {
	var b strings.Builder
	b.WriteString("<table><tr><th>what<th>of<th>published<th>ours<th>kind<th>verdict<th>why<th>source</tr>\n")
	for _, row := range r.Rows {
		fmt.Fprintf(&b, "<tr><td>%s<td>%s<td class=n>%s<td class=n>%s<td>%s<td>%s<td>%s<td>%s</tr>\n",
			html.EscapeString(row.Name), html.EscapeString(row.Statistic), html.EscapeString(row.published()), html.EscapeString(row.ours()),
			row.Kind, html.EscapeString(row.verdict()), html.EscapeString(row.Why), html.EscapeString(row.Source))
	}
	b.WriteString("</table>\n")
	return b.String()
}

// published writes the published figure with its own interval, or what the paper says in words.
func (r *Row) published() string {
	if r.Published.Missing() {
		return r.Claim
	}
	text := figures(float64(r.Published))
	if !r.PublishedCI95.Missing() {
		text += " ± " + figures(float64(r.PublishedCI95))
	}
	if r.Claim != "" {
		text = r.Claim + ": " + text
	}
	return text
}

// verdict writes the verdict, or why there is none.
func (r *Row) verdict() string {
	if r.Verdict == "" {
		return r.NoVerdict
	}
	return string(r.Verdict)
}

// ours writes ours with its interval.
func (r *Row) ours() string {
	if r.Ours.Missing() {
		return ""
	}
	text := figures(float64(r.Ours))
	switch {
	case math.IsInf(float64(r.High), 1):
		text += ", from " + figures(float64(r.Low)) + " without end"
	case !r.CI95.Missing():
		text += " ± " + figures(float64(r.CI95))
	}
	if r.Unit == "s" || r.Unit == "min" {
		text += " " + r.Unit
	}
	return text
}

// Table returns the rows as cells, the first of them the header, for a terminal.
func (r *Result) Table() [][]string {
	rows := [][]string{{"what", "of", "published", "ours", "kind", "verdict"}}
	for i := range r.Rows {
		row := &r.Rows[i]
		rows = append(rows, []string{row.Name, row.Statistic, row.published(), row.ours(), string(row.Kind), row.verdict()})
	}
	return rows
}

func (r *Result) CSV() []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	cell := func(n Number) string {
		if n.Missing() {
			return ""
		}
		return strconv.FormatFloat(float64(n), 'g', -1, 64)
	}
	_ = w.Write([]string{"name", "policy", "metric", "statistic", "unit", "claim", "published", "published_ci95", "ours", "ci95", "low", "high", "kind", "verdict", "no_verdict", "why", "source"})
	for _, row := range r.Rows { // a buffer takes everything
		_ = w.Write([]string{row.Name, row.Policy, row.Metric, row.Statistic, row.Unit, row.Claim, cell(row.Published), cell(row.PublishedCI95), cell(row.Ours), cell(row.CI95),
			cell(row.Low), cell(row.High), string(row.Kind), string(row.Verdict), row.NoVerdict, row.Why, row.Source})
	}
	w.Flush()
	return b.Bytes()
}

// figures writes a number with as many digits as say something.
func figures(f float64) string {
	switch a := math.Abs(f); {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return "none"
	case a >= 1000:
		return strconv.FormatFloat(f, 'f', 0, 64)
	case a >= 10:
		return strconv.FormatFloat(f, 'f', 1, 64)
	case a >= 2:
		return strconv.FormatFloat(f, 'f', 2, 64)
	case a != 0 && a < 0.001:
		return strconv.FormatFloat(f, 'g', 2, 64)
	}
	return strconv.FormatFloat(f, 'f', 4, 64)
}
