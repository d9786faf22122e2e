// Passkeys: a form with data-make or data-ask has what the browser is to be asked for, in
// JSON. What it answers is sent with the form.

const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
const named = (list) => (list ?? []).map((key) => ({ ...key, id: bytes(key.id) }));

const make = async (asked) => {
  const key = await navigator.credentials.create({ publicKey: {
    ...asked, challenge: bytes(asked.challenge), user: { ...asked.user, id: bytes(asked.user.id) }, excludeCredentials: named(asked.excludeCredentials),
  } });
  return { ...about(key), response: {
    clientDataJSON: text(key.response.clientDataJSON), attestationObject: text(key.response.attestationObject), transports: key.response.getTransports?.() ?? [],
  } };
};

const ask = async (asked) => {
  const key = await navigator.credentials.get({ publicKey: { ...asked, challenge: bytes(asked.challenge), allowCredentials: named(asked.allowCredentials) } });
  return { ...about(key), response: {
    clientDataJSON: text(key.response.clientDataJSON), authenticatorData: text(key.response.authenticatorData), signature: text(key.response.signature),
    ...(key.response.userHandle ? { userHandle: text(key.response.userHandle) } : {}),
  } };
};

const about = (key) => ({ id: key.id, rawId: text(key.rawId), type: key.type, clientExtensionResults: {},
  ...(key.authenticatorAttachment ? { authenticatorAttachment: key.authenticatorAttachment } : {}) });

const reasons = {
  NotAllowedError: "No passkey was given, or it took too long. Try again.",
  InvalidStateError: "There is a passkey of your account already. Choose another place for this one.",
  SecurityError: "The address of this page is not the one that the passkeys of this site are for.",
};

for (const form of document.querySelectorAll("form[data-make], form[data-ask]")) {
  const button = form.querySelector("[data-show]");
  if (!button) continue;
  const problem = button.closest("form").querySelector("p.problems[hidden]");
  const say = (words) => {
    problem.textContent = words;
    problem.hidden = !words;
  };
  const show = async () => {
    const code = form.elements.code; // not needed with a passkey
    if (code) code.required = false;
    say("");
    button.disabled = true;
    try {
      if (!form.reportValidity()) return;
      const answer = form.dataset.make ? await make(JSON.parse(form.dataset.make)) : await ask(JSON.parse(form.dataset.ask));
      form.elements.passkey.value = JSON.stringify(answer);
      if (code) code.value = "";
      form.requestSubmit();
    } catch (error) {
      say(reasons[error.name] ?? `The browser cannot do it: ${error.message}`);
    } finally {
      button.disabled = false;
      if (code) code.required = true;
    }
  };
  button.hidden = false;
  if (!window.PublicKeyCredential) {
    button.disabled = true;
    say("This browser knows no passkeys.");
    continue;
  }
  button.addEventListener("click", show);
  if ("now" in form.dataset) show();
}
