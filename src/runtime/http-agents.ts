import { Agent, type Dispatcher, EnvHttpProxyAgent } from "undici";
import { isLoopback } from "./reach.ts";

/** What `fetch` needs of a dispatcher. */
export type Wire = Pick<Dispatcher, "dispatch">;

/** Connections to one tenant. */
export interface Agents {
  read: Dispatcher;
  write: Dispatcher;
  close(): Promise<void>;
}

/**
 * Opens nothing yet. Reads share kept connections; a write gets a connection of its own, since one that the service
 * closed in that moment would leave it open whether the write arrived.
 *
 * `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` (either case) are followed, never to this machine itself.
 */
export function agentsFor(baseUrl: URL, requestMs: number, env: NodeJS.ProcessEnv): Agents {
  // Less than the whole limit, so that a host that does not answer at all is told from one that answers too late.
  const common = { connectTimeout: Math.max(1, Math.floor((requestMs * 2) / 3)), maxHeaderSize: 32_768 };
  const open = (pipelining: 0 | 1): Dispatcher => {
    if (isLoopback(baseUrl)) return new Agent({ ...common, pipelining });
    const httpProxy = env.http_proxy ?? env.HTTP_PROXY ?? "";
    const httpsProxy = env.https_proxy ?? env.HTTPS_PROXY ?? "";
    const noProxy = env.no_proxy ?? env.NO_PROXY ?? "";
    if (httpProxy === "" && httpsProxy === "") return new Agent({ ...common, pipelining });
    return new EnvHttpProxyAgent({ ...common, pipelining, httpProxy, httpsProxy, noProxy });
  };
  const read = open(1);
  // No pipelining at all is undici's way to say: close the connection after the answer.
  const write = open(0);
  return {
    read,
    write,
    close: async () => {
      await Promise.all([read.close(), write.close()]);
    },
  };
}

/** Lets one dispatch through. `fetch` sends a request twice by itself where the answer is 421 (Fetch, 4.6, step 15). */
export function onlyOnce(dispatcher: Dispatcher): Wire & { refusedAnother(): boolean } {
  let dispatched = 0;
  return {
    dispatch(options, handler) {
      dispatched += 1;
      if (dispatched > 1) throw new Error("one request is sent once");
      return dispatcher.dispatch(options, handler);
    },
    refusedAnother: () => dispatched > 1,
  };
}
