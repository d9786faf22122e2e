package calibrate

import (
	"math"
	"strings"

	"github.com/throng-dev/throng/internal/kit/jsonform"
	"github.com/throng-dev/throng/internal/kit/lists"
)

// A Report is a model as programs read it. Figures that are not known are null.
type Report struct {
	Model string   // YAML: the kinds and the crowd of a scenario
	Whole string   // YAML: the whole scenario, where it was asked for
	Files []string // written

	of *Model
}

// Report returns the model for programs.
func (m *Model) Report() *Report {
	var b strings.Builder
	m.sections(&b)
	return &Report{of: m, Model: b.String()}
}

// MarshalJSON implements json.Marshaler.
func (r *Report) MarshalJSON() ([]byte, error) {
	m := r.of
	rate := math.NaN()
	if m.Crowd.Rate > 0 {
		rate = m.Crowd.Rate
	}
	kinds := lists.Map(m.Kinds, func(x *KindFit) jsonform.Form { return x.form() })
	return jsonform.Object(
		"answers", m.Answers, "workers", m.Workers, "visits", m.Visits,
		"left_out", m.Left.Filtered+m.Left.Empty+m.Left.Other, // rows that are neither an answer nor given up, or were filtered
		"rounding", m.Rounding, "kinds", kinds,
		// Over all kinds:
		"switch_without_practice", m.SwitchAlone.form(), "switch", m.Switch.form(), "learning", m.Learning.form(), "speed_sigma", m.Speed.Sigma.form(),
		"people", m.Crowd.Count, "arrivals_per_h", rate, // people in a run
		"session", m.Crowd.Session.form(), "pause", m.Crowd.Pause.form(), "give_up_after", m.GaveUp.form(),
		"notes", append([]string{}, m.Notes...), "model", r.Model, "scenario,omitempty", r.Whole, "files,omitempty", r.Files,
	).MarshalJSON()
}

func (k *KindFit) form() jsonform.Form {
	c := &k.Check
	return jsonform.Object(
		"name", k.Name, "n", k.N, "workers", k.Workers, "service", k.Service.form(), "median_s", k.Median.form(), "sigma", k.Sigma.form(),
		"switch", k.Switch.form(), "learning", k.Learning.form(), "switch_written", k.SwitchFactor, "learning_written", k.LearningExponent,
		"hand_outs", k.HandOuts, "skip", k.Skip, "return", k.Return, "vanish", k.Vanish,
		// The log and its simulation: 10 %, 50 %, 90 %, in seconds.
		"check", jsonform.Object(
			"data", jsonform.Figures(c.Data[:]), "simulated", jsonform.Figures(c.Simulated[:]), "lo", jsonform.Figures(c.Lo[:]), "hi", jsonform.Figures(c.Hi[:]),
			"mean_data", c.MeanData, "mean_simulated", c.Mean, "ks", c.KS),
	)
}

// form is an estimate with its 95 % interval.
func (e Effect) form() jsonform.Form {
	return jsonform.Object("value", e.Value, "lo", e.Lo, "hi", e.Hi, "n", e.N, "cells", e.Cells)
}

// form is a distribution that was chosen; nil of none.
func (s *Seconds) form() any {
	if s == nil {
		return nil
	}
	return jsonform.Object(
		"family", s.Family, "why", s.Why, "n", s.N, "mean_s", s.Dist.Mean(),
		"log_likelihood_lognormal", s.LogNormal.LogLikelihood, "log_likelihood_exponential", s.Exponential.LogLikelihood,
		"aic_lognormal", s.LogNormal.AIC, "aic_exponential", s.Exponential.AIC, "ks_lognormal", s.LogNormal.KS, "ks_exponential", s.Exponential.KS,
	)
}
