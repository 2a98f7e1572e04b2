// The pages of the team, loaded together.
export { Audit } from './audit.tsx';
export { Members } from './members.tsx';
export { Policy } from './policy.tsx';
