// The pages of a person's own account, loaded together.
export { Security } from './security.tsx';
