// The page of API keys.
export { ApiKeys } from './keys.tsx';
