// The pages of the request log, loaded together.
export { ApiRequest } from './request.tsx';
export { ApiRequests } from './requests.tsx';
