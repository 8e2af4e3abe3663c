/** What `init` writes: commented files that work as they stand. */

export const CONFIG = `schema: provision.config/v1
version: 1

# A tenant is an exact, known name. Nothing looks for tenants by what a token can reach.
tenants:
  acme-sandbox:
    provider: sandbox
    # The embedded tenant writes its address here when it starts: provision sandbox start
    base_url: { file: .provision/sandbox/url }
    # Only these domains may be invited. A sub-domain is another domain.
    allowed_email_domains: [example.test]
    catalog: catalog/acme-sandbox.yaml
    # The least that an invitation may carry.
    landing: { role: guest, groups: [] }
    # By reference, never by value: env, file, or command (argv without a shell).
    credentials:
      read:     { file: .provision/sandbox/read.token }
      ordinary: { file: .provision/sandbox/ordinary.token }
      # The authority for elevated roles and sensitive groups. Uncomment it to obtain that authority:
      # privileged: { file: .provision/sandbox/privileged.token }

policy: policy.yaml
approvers: approvers

# Which accounts are one person, so that nobody approves what they asked for:
# identities: { "os:ana": ana@example.test }
`;

export const CATALOG = `schema: provision.catalog/v1
# What may be asked for on acme-sandbox. Kept by people, outside any prompt.

roles:
  - { name: guest, id: guest, privilege: 0 }
  - { name: member, id: member, privilege: 10 }
  - { name: billing, id: billing, privilege: 70, elevated: true }
  - { name: admin, id: admin, privilege: 90, elevated: true }
  - { name: owner, id: owner, privilege: 100, elevated: true }

groups:
  - name: engineering
    id: grp_77
    membership: direct
    privilege: 20
    labels: [team]
    description: The engineers and what they share
    owner: it-leads
  - name: on-call-readers
    id: grp_81
    membership: direct
    privilege: 60
    sensitive: true
    labels: [on-call]
    description: Reads incidents and customer data
    owner: it-leads
  # These are listed so that asking for them is answered with what to do instead.
  - { name: everyone, id: grp_1, membership: dynamic, managed_by: rules, instead: everybody with an active account is in it }
  - { name: contractors, id: grp_90, membership: synced, managed_by: idp, instead: change it in the directory that it comes from }
  - { name: platform, id: grp_78, membership: nested, instead: ask for engineering }

licenses:
  - { name: pro, id: lic_1, requires: [engineering] }

# No plan may touch these people.
protected: [breakglass@example.test]
`;

export const IGNORED = `# Journal, keys and tokens: none of it belongs into a repository.
*
`;
