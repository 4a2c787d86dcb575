/** The thread in which a link lives; see `linkthread.ts`. */

import { type MessagePort, workerData } from "node:worker_threads";
import { toPlain } from "./errors.js";
import { Link } from "./link.js";
import type { FromThread, ToThread } from "./linkthread.js";

const port = workerData as MessagePort;
let current: { number: number; link: Link } | undefined;

function tell(message: FromThread): void {
  port.postMessage(message);
}

async function open({ link: number, endpoint, hello }: ToThread & { do: "open" }): Promise<void> {
  try {
    const link = new Link(endpoint);
    current = { number, link };
    const goodbye = await link.run(hello, ({ raw, atMs }) => {
      // A copy: the bytes may be a part of a larger piece, which would be cloned as a whole.
      tell({ is: "frame", link: number, raw: new Uint8Array(raw), atMs });
    });
    tell({ is: "ended", link: number, goodbye });
  } catch (error) {
    tell({ is: "ended", link: number, error: toPlain(error) });
  }
}

port.on("message", (message: ToThread) => {
  if (message.do === "open") {
    void open(message);
    return;
  }
  if (message.link !== current?.number) return;
  const { link } = current;
  switch (message.do) {
    case "send":
      for (const entry of message.entries) link.send(entry);
      break;
    case "leave":
      link.leave(message.goodbye);
      break;
    case "call": {
      const { call, path, request } = message;
      link.call(path, request).then(
        (raw) => tell({ is: "answer", link: message.link, call, raw: new Uint8Array(raw) }),
        (error) => tell({ is: "answer", link: message.link, call, error: toPlain(error) }),
      );
      break;
    }
  }
});
