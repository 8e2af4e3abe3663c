import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { publicLine } from "../../../src/runtime/approvals/pubkey.ts";
import { generateKey, parseKey } from "../../../src/runtime/approvals/sshkey.ts";
import { assuranceOf, NAMESPACE, signSshsig, verifySshsig } from "../../../src/runtime/approvals/sshsig.ts";
import { forge, skEd25519 } from "./forge.ts";
import { hasSshKeygen, inFolder, sshKeygen, sshKeygenCode, withSshKeygen } from "./openssh.ts";

const message = Buffer.from('{"decision":"approve","step":1}');

describe.runIf(hasSshKeygen)(`beside ssh-keygen${withSshKeygen}`, () => {
  test.each(["ed25519", "ecdsa", "rsa"])(
    "a signature that ssh-keygen makes by a key of type %s is accepted",
    async (type) => {
      await inFolder((folder) => {
        const file = join(folder, "key");
        sshKeygen(["-q", "-t", type, "-N", "", "-C", "ana", "-f", file]);
        const armoured = sshKeygen(["-Y", "sign", "-f", file, "-n", NAMESPACE, "-"], message);
        expect(verifySshsig(armoured, message).namespace).toBe(NAMESPACE);
        expect(() => verifySshsig(armoured, Buffer.from("other"))).toThrow(
          expect.objectContaining({ code: "bad_signature" }),
        );
      });
    },
  );

  test("what we sign, ssh-keygen would have signed alike, and verifies", async () => {
    await inFolder((folder) => {
      const made = generateKey("ana@example.test");
      const { signer } = parseKey(made.privateText, "key");
      const ours = signSshsig(message, { blob: made.blob, signer: signer! });
      const [key, allowed, signature] = ["key", "allowed", "signature"].map((name) => join(folder, name));
      writeFileSync(key!, made.privateText, { mode: 0o600 });
      expect(sshKeygen(["-Y", "sign", "-f", key!, "-n", NAMESPACE, "-"], message)).toBe(ours);
      writeFileSync(allowed!, `ana@example.test namespaces="${NAMESPACE}" ${made.publicLine}`);
      writeFileSync(signature!, ours);
      const verify = ["-Y", "verify", "-f", allowed!, "-I", "ana@example.test", "-n", NAMESPACE, "-s", signature!];
      expect(sshKeygenCode(verify, message)).toBe(0);
      expect(sshKeygenCode(verify, "other")).not.toBe(0);
    });
  });

  test("ssh-keygen says good to a security key that nobody touched, and we do not", async () => {
    await inFolder((folder) => {
      const key = skEd25519();
      const armoured = forge(key, message, { flags: 0 });
      const [allowed, signature] = ["allowed", "signature"].map((name) => join(folder, name));
      writeFileSync(allowed!, `ana@example.test namespaces="${NAMESPACE}" ${publicLine(key.keyType, key.blob, "")}`);
      writeFileSync(signature!, armoured);
      const verify = ["-Y", "verify", "-f", allowed!, "-I", "ana@example.test", "-n", NAMESPACE, "-s", signature!];
      expect(sshKeygenCode(verify, message)).toBe(0);
      expect(() => assuranceOf(verifySshsig(armoured, message))).toThrow(expect.objectContaining({ code: "no_touch" }));
    });
  });
});
