// Shows a message that the server sends to this browser, and opens the page that
// it is about. It runs apart from the pages, and does nothing else.

const home = new URL("/work", self.location.origin).href;

self.addEventListener("push", (event) => {
  let message = {};
  try {
    message = event.data?.json() ?? {};
  } catch {
    // Whatever it was, somebody is wanted.
  }
  event.waitUntil(self.registration.showNotification(message.title || "There is work for you", {
    body: message.body || "",
    tag: "throng", // a second message takes the place of the first
    renotify: true,
    data: { url: message.url || home },
  }));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.url));
});

// open goes to a page of this site, in a window that is there, or in a new one.
async function open(url) {
  let to = new URL(home);
  try {
    const wanted = new URL(url, home);
    if (wanted.origin === to.origin) to = wanted;
  } catch {
    // An address that is none: the start page will do.
  }
  for (const client of await self.clients.matchAll({ type: "window", includeUncontrolled: true })) {
    if (new URL(client.url).pathname === to.pathname) return client.focus();
  }
  return self.clients.openWindow(to.href);
}
