package calibrate

import (
	"math"
	"strings"
)

// A Report is a model as programs read it. Figures that are not known are null.
type Report struct {
	Answers  int          `json:"answers"`
	Workers  int          `json:"workers"`
	Visits   int          `json:"visits"`
	LeftOut  int          `json:"left_out"` // rows that are neither an answer nor given up, or were filtered
	Rounding Rounding     `json:"rounding"`
	Kinds    []KindReport `json:"kinds"`

	SwitchAlone EffectReport `json:"switch_without_practice"` // over all kinds, as the next two
	Switch      EffectReport `json:"switch"`
	Learning    EffectReport `json:"learning"`
	SpeedSigma  EffectReport `json:"speed_sigma"`

	People  *float64    `json:"people"` // in a run
	RateH   *float64    `json:"arrivals_per_h"`
	Session *DistReport `json:"session"`
	Pause   *DistReport `json:"pause"`
	GaveUp  *DistReport `json:"give_up_after"`
	Notes   []string    `json:"notes"`
	Model   string      `json:"model"`              // YAML: the kinds and the crowd of a scenario
	Whole   string      `json:"scenario,omitempty"` // YAML: the whole scenario, where it was asked for
	Files   []string    `json:"files,omitempty"`    // written
}

// An EffectReport is an estimate with its 95 % interval.
type EffectReport struct {
	Value *float64 `json:"value"`
	Lo    *float64 `json:"lo"`
	Hi    *float64 `json:"hi"`
	N     int      `json:"n"`
	Cells int      `json:"cells"`
}

// A KindReport is one kind of task.
type KindReport struct {
	Name    string       `json:"name"`
	N       int          `json:"n"`
	Workers int          `json:"workers"`
	Service DistReport   `json:"service"`
	MedianS EffectReport `json:"median_s"`
	Sigma   EffectReport `json:"sigma"`

	Switch          EffectReport `json:"switch"`
	Learning        EffectReport `json:"learning"`
	SwitchWritten   float64      `json:"switch_written"`
	LearningWritten float64      `json:"learning_written"`

	HandOuts int         `json:"hand_outs"`
	Skip     *float64    `json:"skip"`
	Return   *float64    `json:"return"`
	Vanish   *float64    `json:"vanish"`
	Check    CheckReport `json:"check"`
}

// A DistReport is a distribution that was chosen.
type DistReport struct {
	Family         string   `json:"family"`
	Why            string   `json:"why"`
	N              int      `json:"n"`
	MeanS          *float64 `json:"mean_s"` // of the distribution
	LogLikLognorm  *float64 `json:"log_likelihood_lognormal"`
	LogLikExpon    *float64 `json:"log_likelihood_exponential"`
	AICLognormal   *float64 `json:"aic_lognormal"`
	AICExponential *float64 `json:"aic_exponential"`
	KSLognormal    *float64 `json:"ks_lognormal"`
	KSExponential  *float64 `json:"ks_exponential"`
}

// A CheckReport compares a log and its simulation: 10 %, 50 %, 90 %, in seconds.
type CheckReport struct {
	Data          [3]*float64 `json:"data"`
	Simulated     [3]*float64 `json:"simulated"`
	Lo            [3]*float64 `json:"lo"`
	Hi            [3]*float64 `json:"hi"`
	MeanData      *float64    `json:"mean_data"`
	MeanSimulated *float64    `json:"mean_simulated"`
	KS            *float64    `json:"ks"`
}

// Report returns the model for programs.
func (m *Model) Report() *Report {
	r := &Report{
		Answers: m.Answers, Workers: m.Workers, Visits: m.Visits, Rounding: m.Rounding, LeftOut: m.Left.Filtered + m.Left.Empty + m.Left.Other,
		SwitchAlone: m.SwitchAlone.report(), Switch: m.Switch.report(), Learning: m.Learning.report(), SpeedSigma: m.Speed.Sigma.report(),
		Session: m.Crowd.Session.report(), Pause: m.Crowd.Pause.report(), GaveUp: m.GaveUp.report(), Notes: m.Notes,
	}
	if r.Notes == nil {
		r.Notes = []string{}
	}
	r.People = known(float64(m.Crowd.Count))
	if m.Crowd.Rate > 0 {
		r.RateH = known(m.Crowd.Rate)
	}
	for i := range m.Kinds {
		k := &m.Kinds[i]
		c := CheckReport{MeanData: known(k.Check.MeanData), MeanSimulated: known(k.Check.Mean), KS: known(k.Check.KS)}
		for q := range shares {
			c.Data[q], c.Simulated[q] = known(k.Check.Data[q]), known(k.Check.Simulated[q])
			c.Lo[q], c.Hi[q] = known(k.Check.Lo[q]), known(k.Check.Hi[q])
		}
		r.Kinds = append(r.Kinds, KindReport{
			Name: k.Name, N: k.N, Workers: k.Workers, Service: *k.Service.report(), MedianS: k.Median.report(), Sigma: k.Sigma.report(),
			Switch: k.Switch.report(), Learning: k.Learning.report(), SwitchWritten: k.SwitchFactor, LearningWritten: k.LearningExponent,
			HandOuts: k.HandOuts, Skip: known(k.Skip), Return: known(k.Return), Vanish: known(k.Vanish), Check: c,
		})
	}
	var b strings.Builder
	m.sections(&b)
	r.Model = b.String()
	return r
}

func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func (e Effect) report() EffectReport {
	return EffectReport{known(e.Value), known(e.Lo), known(e.Hi), e.N, e.Cells}
}

func (s *Seconds) report() *DistReport {
	if s == nil {
		return nil
	}
	return &DistReport{
		Family: s.Family, Why: s.Why, N: s.N, MeanS: known(s.Dist.Mean()),
		LogLikLognorm: known(s.LogNormal.LogLikelihood), LogLikExpon: known(s.Exponential.LogLikelihood),
		AICLognormal: known(s.LogNormal.AIC), AICExponential: known(s.Exponential.AIC), KSLognormal: known(s.LogNormal.KS), KSExponential: known(s.Exponential.KS),
	}
}
