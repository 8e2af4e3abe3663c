/** The part of tr46 that is used here; the package ships no types. Source: its README, "API", version 6. */
declare module "tr46" {
  interface Options {
    checkBidi?: boolean;
    checkHyphens?: boolean;
    checkJoiners?: boolean;
    ignoreInvalidPunycode?: boolean;
    transitionalProcessing?: boolean;
    useSTD3ASCIIRules?: boolean;
    verifyDNSLength?: boolean;
  }

  /** Null where the name is not valid under the options. */
  export function toASCII(domain: string, options?: Options): string | null;
  export function toUnicode(domain: string, options?: Options): { domain: string; error: boolean };

  const tr46: { toASCII: typeof toASCII; toUnicode: typeof toUnicode };
  export default tr46;
}
