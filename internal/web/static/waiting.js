// The waiting page: asks the server for a task, which answers as soon as there
// is one, and goes to it.

const says = document.getElementById("says");
const why = document.getElementById("why");
const wait = 25;

const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

async function ask() {
  const start = Date.now();
  try {
    const answer = await fetch("/work/next?wait=" + wait, { method: "POST", headers: { Accept: "application/json" } });
    const body = await answer.json();
    if (answer.ok && body.task) {
      says.textContent = "Here is a task for you.";
      document.title = "● New task · Throng";
      location.assign("/work");
      return true;
    }
    if (answer.status === 401 || answer.status === 403) {
      location.reload();
      return true;
    }
    if (answer.ok) {
      why.innerHTML = body.why; // made by the server, escaped there
      says.textContent = "There is nothing for you at the moment.";
    } else {
      says.textContent = body.error + ".";
    }
  } catch {
    says.textContent = "No connection to the server. Trying again.";
  }
  // Answered at once with nothing: another tab waits too, or the server is
  // closing. Do not hurry.
  if (Date.now() - start < 2000) await sleep(5000);
  return false;
}

while (!(await ask())) {
  // until there is a task
}
