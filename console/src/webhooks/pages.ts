// The pages of webhooks, loaded together.
export { Deliveries } from './deliveries.tsx';
export { Delivery } from './delivery.tsx';
export { Endpoint } from './endpoint.tsx';
export { Endpoints } from './endpoints.tsx';
export { Event } from './event.tsx';
export { Events } from './events.tsx';
