// Messages of the browser: switches them on and off for this one. Everything
// else on the page works without a script.

const box = document.getElementById("push");
const on = document.getElementById("push-on");
const off = document.getElementById("push-off");
const says = document.getElementById("push-says");

const program = "/work/push.js";

// bytes reads base64url.
function bytes(text) {
  const plain = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
  return Uint8Array.from(plain, (c) => c.charCodeAt(0));
}

function base64url(buffer) {
  return btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

function rowOf(subscription) {
  if (!subscription) return null;
  return [...document.querySelectorAll("#browsers li")].find((li) => li.dataset.endpoint === subscription.endpoint) ?? null;
}

async function send(path, fields) {
  const answer = await fetch(path, { method: "POST", headers: { Accept: "application/json" }, body: new URLSearchParams(fields) });
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error);
  return body;
}

async function subscription() {
  const registration = await navigator.serviceWorker.getRegistration(program);
  return registration ? registration.pushManager.getSubscription() : null;
}

async function show() {
  const now = await subscription();
  const row = rowOf(now);
  row?.querySelector(".mine").removeAttribute("hidden");
  on.hidden = row !== null;
  off.hidden = row === null;
}

async function switchOn() {
  says.textContent = "One moment …";
  if ((await Notification.requestPermission()) !== "granted") {
    says.textContent = "Your browser does not allow messages of this site. You can allow them in its settings, next to the address.";
    return;
  }
  await navigator.serviceWorker.register(program);
  const registration = await ready();
  let now;
  try {
    now = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(box.dataset.key) });
  } catch (first) {
    // It may be subscribed with a key that the server had before.
    const old = await registration.pushManager.getSubscription();
    if (!old) throw new Error("your browser cannot get messages now (" + first.message + ")");
    await old.unsubscribe();
    now = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytes(box.dataset.key) });
  }
  await send("/work/push", { endpoint: now.endpoint, p256dh: base64url(now.getKey("p256dh")), auth: base64url(now.getKey("auth")) });
  location.reload();
}

// ready waits until the program runs.
async function ready() {
  const registration = await navigator.serviceWorker.getRegistration(program);
  const worker = registration.installing ?? registration.waiting;
  if (!registration.active && worker) {
    await new Promise((done, fail) => {
      worker.addEventListener("statechange", () => {
        if (worker.state === "activated") done();
        if (worker.state === "redundant") fail(new Error("the program for messages does not start"));
      });
    });
  }
  return registration;
}

async function switchOff() {
  const now = await subscription();
  const row = rowOf(now);
  if (row) await send("/work/push/" + row.dataset.id + "/forget", {});
  await now?.unsubscribe();
  location.reload();
}

function attempt(what) {
  return async () => {
    on.disabled = off.disabled = true;
    try {
      await what();
    } catch (error) {
      says.textContent = "That did not work: " + error.message + ". You are still called on the page, and by e-mail if you like.";
    }
    on.disabled = off.disabled = false;
  };
}

if (box) {
  if (!("serviceWorker" in navigator) || !("PushManager" in window) || !("Notification" in window)) {
    says.textContent = window.isSecureContext ? "This browser cannot show messages." : "Messages need an encrypted connection (https).";
  } else {
    on.addEventListener("click", attempt(switchOn));
    off.addEventListener("click", attempt(switchOff));
    attempt(show)();
  }
}
