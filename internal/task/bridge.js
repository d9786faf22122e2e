// Runs in the sandboxed frame of a requester's page, before the page's own
// scripts. ctx is {assignmentId, hitId, workerId, turkSubmitTo, preview}.
//
// It tells the parent window {throng: "answer", fields: {name: value or list}}
// in place of a submit, {throng: "preview"} when that is tried in a preview,
// {throng: "draft", fields: {name: [values]}} as something is typed or chosen,
// and {throng: "height", height: pixels} whenever the height changes, or the
// parent sends {throng: "hello"}. What the parent sends as a draft is put back.
(function (ctx) {
  "use strict";
  var reserved = { assignmentId: 1, hitId: 1, workerId: 1, turkSubmitTo: 1 };

  function tell(message) {
    window.parent.postMessage(message, "*");
  }

  function answerForm() {
    return document.getElementById("mturk_form") || document.forms[0] || null;
  }

  function send(form, submitter) {
    if (ctx.preview) {
      tell({ throng: "preview" });
      return;
    }
    var fields = Object.create(null);
    function add(value, name) {
      if (!name || reserved[name] === 1 || typeof value !== "string") return;
      if (!(name in fields)) fields[name] = value;
      else if (Array.isArray(fields[name])) fields[name].push(value);
      else fields[name] = [fields[name], value];
    }
    new FormData(form).forEach(add);
    if (submitter && submitter.name) add(submitter.value, submitter.name);
    tell({ throng: "answer", fields: fields });
  }

  // A draft is what people type and choose: not what the page's scripts keep in
  // hidden fields, which they make anew.
  var typed = 'input[name]:not([type="hidden"]):not([type="file"]):not([type="password"]):not([type="submit"]):not([type="image"]):not([type="reset"]):not([type="button"]), textarea[name], select[name]';

  function ticks(x) {
    return x.type === "radio" || x.type === "checkbox";
  }

  function draft() {
    var fields = Object.create(null);
    document.querySelectorAll(typed).forEach(function (x) {
      if (reserved[x.name] === 1) return;
      fields[x.name] = fields[x.name] || [];
      if (x.type === "select-multiple") {
        Array.from(x.selectedOptions).forEach(function (o) { fields[x.name].push(o.value); });
      } else if (!ticks(x) || x.checked) {
        fields[x.name].push(x.value);
      }
    });
    tell({ throng: "draft", fields: fields });
  }
  if (!ctx.preview) window.addEventListener("input", draft);

  // restore puts a draft back, and lets the page's scripts hear of what changed.
  function restore(fields) {
    var next = Object.create(null); // of fields of one name, which value is the next
    document.querySelectorAll(typed).forEach(function (x) {
      var values = Object.prototype.hasOwnProperty.call(fields, x.name) ? fields[x.name] : null;
      if (reserved[x.name] === 1 || !Array.isArray(values)) return;
      var before = x.value, ticked = x.checked;
      if (x.type === "select-multiple") {
        Array.from(x.options).forEach(function (o) { o.selected = values.indexOf(o.value) >= 0; });
      } else if (ticks(x)) {
        x.checked = values.indexOf(x.value) >= 0;
      } else {
        var at = next[x.name] || 0;
        next[x.name] = at + 1;
        if (typeof values[at] === "string") x.value = values[at];
      }
      if (x.value === before && x.checked === ticked && x.type !== "select-multiple") return;
      x.dispatchEvent(new Event("input", { bubbles: true }));
      x.dispatchEvent(new Event("change", { bubbles: true }));
    });
  }

  // The page's own handlers come first and may stop the submit.
  window.addEventListener("submit", function (event) {
    if (event.defaultPrevented) return;
    event.preventDefault();
    if (event.target === answerForm()) send(event.target, event.submitter);
  });
  HTMLFormElement.prototype.submit = function () {
    if (this === answerForm()) send(this, null);
  };

  // What MTurk's externalHIT_v1.js offers.
  window.turkGetParam = function (name, fallback) {
    return typeof ctx[name] === "string" ? ctx[name] : fallback === undefined ? "" : fallback;
  };
  window.turkGetSubmitToHost = function () {
    return ctx.turkSubmitTo || "";
  };
  window.turkSetAssignmentID = function (form, button) {
    document.querySelectorAll('[name="assignmentId"], #assignmentId').forEach(function (input) {
      input.value = ctx.assignmentId;
    });
    var submit = document.getElementById(button || "submitButton");
    if (ctx.preview && submit) {
      submit.disabled = true;
      submit.value = "You must accept the task before you can submit an answer.";
    }
  };

  // Keys: 1 to 9 tick the options of the page's only group of radio buttons;
  // Enter submits once one is ticked; Ctrl or Cmd with Enter submits always.
  function group() {
    var radios = Array.from(document.querySelectorAll('input[type="radio"]'));
    var one = radios.length > 0 && radios.every(function (r) { return r.name === radios[0].name; });
    return one ? radios : [];
  }
  window.addEventListener("keydown", function (event) {
    if (event.defaultPrevented || event.altKey || event.isComposing) return;
    var form = answerForm();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      if (form) form.requestSubmit();
      event.preventDefault();
      return;
    }
    if (event.ctrlKey || event.metaKey) return;
    var at = event.target;
    var radio = at.tagName === "INPUT" && at.type === "radio";
    if (!radio && (at.isContentEditable || /^(INPUT|TEXTAREA|SELECT|BUTTON|A|SUMMARY|AUDIO|VIDEO)$/.test(at.tagName))) return;
    var radios = group();
    if (event.key >= "1" && event.key <= "9" && event.key.length === 1) {
      var chosen = radios[Number(event.key) - 1];
      if (!chosen || chosen.disabled) return;
      chosen.focus();
      chosen.click();
      event.preventDefault();
    } else if (event.key === "Enter" && form && radios.some(function (r) { return r.checked; })) {
      form.requestSubmit();
      event.preventDefault();
    }
  });

  var height = -1;
  function measure() {
    var now = Math.ceil(document.documentElement.getBoundingClientRect().height);
    if (now === height) return;
    height = now;
    tell({ throng: "height", height: now });
  }
  document.addEventListener("DOMContentLoaded", function () {
    window.turkSetAssignmentID();
    measure();
    if (window.ResizeObserver) new ResizeObserver(measure).observe(document.documentElement);
  });
  window.addEventListener("load", measure);
  window.addEventListener("message", function (event) {
    if (event.source !== window.parent || !event.data || height < 0) return;
    if (event.data.throng === "draft" && event.data.fields) restore(event.data.fields);
    if (event.data.throng !== "hello") return;
    height = -1; // whoever asks has not heard it
    measure();
  });
})
