// An answer to a requester's own HTML that is revised: what comes out of the frame is sent as the form.

import { listen } from "./frame.js";

let sending = false;
listen(document.getElementById("frame"), {
  answer(fields) {
    if (sending) return;
    sending = true;
    document.getElementById("whole").value = JSON.stringify(fields ?? {});
    document.getElementById("answer").submit();
  },
});
