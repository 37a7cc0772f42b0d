//! Tenants apart.

use serde_json::json;
use turnkeep_server::auth::Scope;
use turnkeep_server::store_url;

use crate::stage::Stage;

#[tokio::test]
async fn the_same_id_is_another_session_for_every_tenant() {
    let stage = Stage::new().await;
    for tenant in ["default", "acme", "team_2"] {
        let client = stage.client(Scope::Write, tenant).await;
        client.post("/v1/sessions", json!({"id": "s", "title": tenant})).await.must(201);
    }
    for tenant in ["default", "acme", "team_2"] {
        let client = stage.client(Scope::Read, tenant).await;
        let listed = client.get("/v1/sessions").await.must(200).json();
        assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
        assert_eq!(listed["sessions"][0]["title"], json!(tenant));
    }
}

#[tokio::test]
async fn every_tenant_has_a_store_of_its_own() {
    let stage = Stage::new().await;
    let names = ["default", "acme", "team_2"].map(|name| turnkeep_server::TenantName::new(name).unwrap());
    let urls = names.map(|name| store_url(&stage.config, &name).unwrap());

    assert_eq!(urls[0], stage.config.store);
    assert!(urls[0] != urls[1] && urls[1] != urls[2] && urls[0] != urls[2], "{urls:?}");
}
