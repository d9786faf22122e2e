// The sealed frame that a requester's HTML runs in. It has no origin, so all
// that comes out of it are messages; those of any other window are not heard.

const least = 160;
const most = 6000;

// listen calls on.answer(fields), on.preview() and, as something is typed, on.draft(fields) for
// messages of the frame, on.ready() once its page is there, and keeps the frame as high as that.
export function listen(frame, on) {
  let ready = false;
  window.addEventListener("message", (event) => {
    if (event.source !== frame.contentWindow || typeof event.data !== "object" || event.data === null) return;
    const message = event.data;
    switch (message.throng) {
      case "height":
        if (!ready) on.ready?.();
        ready = true;
        if (Number.isFinite(message.height)) frame.height = String(Math.min(most, Math.max(least, Math.ceil(message.height))));
        break;
      case "answer":
        on.answer?.(message.fields);
        break;
      case "draft":
        on.draft?.(message.fields);
        break;
      case "preview":
        on.preview?.();
        break;
    }
  });
  // A frame that was there before this has told its height to nobody.
  frame.contentWindow?.postMessage({ throng: "hello" }, "*");
}
