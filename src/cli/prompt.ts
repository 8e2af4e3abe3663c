import { createInterface } from "node:readline/promises";

/** Asks on stderr, so that stdout keeps the answer alone. Anything but y or yes is a no; so is the end of input. */
export async function confirm(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answered = await Promise.race([
      lines.question(question),
      new Promise<string>((end) => lines.once("close", () => end(""))),
    ]);
    return /^y(es)?$/i.test(answered.trim());
  } finally {
    lines.close();
  }
}
